//! Fetching the built-in datasets' files from the Hugging Face hub: pinned, cached as other hub tools cache, checked.

mod environment;
mod hub;

pub use environment::{Environment, Token};
pub use hub::{Fetched, Hub, Progress};

use serde::Deserialize;

use crate::assets::Assets;
use crate::error::Result;
use crate::schema::dataset::read_csv;

/// A file of a dataset, a row of `data/files.csv`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct HubFile {
    /// Dataset id.
    pub dataset: String,
    /// `OWNER/NAME` of the dataset repository.
    pub repo: String,
    /// The pinned commit.
    pub revision: String,
    /// Path in the repository.
    pub file: String,
    /// Its size at that commit, where it is known.
    pub bytes: Option<u64>,
    /// SHA-256 at that commit, where it is known.
    pub sha256: Option<String>,
}

impl HubFile {
    /// The files of a dataset; none where it is not on the hub.
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
