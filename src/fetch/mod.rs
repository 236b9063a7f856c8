//! Fetching the built-in datasets' files from the Hugging Face hub and from GitHub: pinned, cached, checked.

mod environment;
mod github;
mod hub;
mod resume;

pub use environment::{Environment, Token};
pub use github::fetch_archive;
pub use hub::{Fetched, Hub, Progress};
pub(crate) use hub::{client, innermost};

use serde::Deserialize;

use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::dataset::read_csv;

/// A file of a dataset, a row of `data/files.csv`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RemoteFile {
    /// Dataset id.
    pub dataset: String,
    /// Who keeps it.
    pub host: Host,
    /// `OWNER/NAME` of the repository.
    pub repo: String,
    /// The pinned commit.
    pub revision: String,
    /// Path in the repository; on GitHub a glob, of which a file without a digest need not be there.
    pub file: String,
    /// Its size at that commit, where it is known.
    pub bytes: Option<u64>,
    /// SHA-256 at that commit, where it is known.
    pub sha256: Option<String>,
}

/// Who keeps files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    /// The Hugging Face hub: files one by one.
    Huggingface,
    /// GitHub: the repository as an archive.
    Github,
}

/// How a file of the hub is named on the command line.
const SCHEME: &str = "hf://datasets/";

impl RemoteFile {
    /// Reads `hf://datasets/OWNER/NAME[@REVISION]/PATH`; `None` for anything else, an error for half of it. Without a revision the branch
    /// main is meant.
    pub fn of_url(url: &str) -> Option<Result<Self>> {
        let rest = url.strip_prefix(SCHEME)?;
        let parts: Vec<&str> = rest.splitn(3, '/').collect();
        let [owner, name, file] = parts.as_slice() else { return Some(Err(half(url))) };
        let (name, revision) = name.split_once('@').unwrap_or((name, "main"));
        // A path that leaves the repository is none of it.
        if file.contains(['*', '?', '[']) {
            return Some(Err(half(url).hint("the hub has no globs: name each file")));
        }
        let is_inside = file.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
        if owner.is_empty() || name.is_empty() || revision.is_empty() || !is_inside {
            return Some(Err(half(url)));
        }
        Some(Ok(Self {
            dataset: String::new(),
            host: Host::Huggingface,
            repo: format!("{owner}/{name}"),
            revision: revision.to_owned(),
            file: (*file).to_owned(),
            bytes: None,
            sha256: None,
        }))
    }

    /// Its name in manifests; the commit stands beside, so that a newer one takes its place.
    pub fn uri(&self) -> String {
        format!("{SCHEME}{}/{}", self.repo, self.file)
    }

    /// The files of a dataset.
    pub fn of_dataset(assets: &Assets, dataset: &str) -> Result<Vec<Self>> {
        let files: Vec<Self> = read_csv(assets, "data/files.csv")?;
        Ok(files.into_iter().filter(|file| file.dataset == dataset).collect())
    }

    /// The same file at another revision, of which nothing is known.
    #[must_use]
    pub fn at(self, revision: &str) -> Self {
        if self.revision == revision {
            return self;
        }
        Self { revision: revision.to_owned(), bytes: None, sha256: None, ..self }
    }
}

fn half(url: &str) -> Error {
    Error::new(ErrorKind::Usage, "not a file of the hub")
        .with("input", url)
        .hint("hf://datasets/OWNER/NAME[@REVISION]/PATH")
}
