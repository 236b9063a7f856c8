//! `scorelake fetch`

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::text_rows::{self, Cell};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::cli::progress::Bar;
use crate::error::{Error, ErrorKind, Result};
use crate::fetch::{Environment, Fetched, Host, Hub, Progress, RemoteFile, fetch_archive};
use crate::schema::dataset::Dataset;
use crate::source::{self, Expanded, Location};
use crate::store::File;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Dataset id (see `scorelake datasets`).
    dataset: String,
    /// A commit, branch or tag instead of the pinned commit.
    #[arg(long, value_name = "R")]
    revision: Option<String>,
    /// Put the files into this folder; without it they stay in the cache: the hub's, or SCORELAKE_CACHE for those of GitHub.
    #[arg(value_parser = super::parse_local, long, value_name = "DIR")]
    to: Option<PathBuf>,
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let dataset = Dataset::find(&session.assets, &args.dataset)?;
    let environment = Environment::of_process();
    let mut files = RemoteFile::of_dataset(&session.assets, &dataset.id)?;
    if let Some(revision) = &args.revision {
        files = files.into_iter().map(|file| file.at(revision)).collect();
    }
    let (of_hub, of_github): (Vec<_>, Vec<_>) = files.into_iter().partition(|file| file.host == Host::Huggingface);
    let mut fetched: Vec<(String, Fetched)> = Vec::new();
    if !of_hub.is_empty() {
        let hub = Hub::new(environment.clone())?;
        for file in of_hub {
            fetched.push((file.file.clone(), fetch(session, &hub, &file)?));
        }
    }
    if let Some(first) = of_github.first() {
        session.printer.detail(&format!("the archive of {} at {}", first.repo, first.revision));
        let server = std::env::var("GITHUB_SERVER_URL").unwrap_or_else(|_| "https://github.com".into());
        fetched.extend(fetch_archive(&environment, &of_github, &server, &told(session, &first.repo)?)?);
    }
    if fetched.is_empty() {
        return Err(Error::new(ErrorKind::Usage, format!("no files of {} are known", dataset.id))
            .hint(format!("see {} at {}", dataset.source, dataset.revision)));
    }
    let mut rows: Vec<[Cell; 6]> = Vec::new();
    let mut paths = Vec::new();
    for (name, fetched) in fetched {
        let path = match &args.to {
            Some(folder) => put(&fetched.path, &folder.join(&name))?,
            None => fetched.path.clone(),
        };
        rows.push([
            name.into(),
            path.display().to_string().into(),
            fetched.commit.into(),
            fetched.bytes.into(),
            fetched.sha256.into(),
            if fetched.is_checked { "as expected" } else { "not known beforehand" }.into(),
        ]);
        paths.push(path.display().to_string());
    }
    text_rows::print(session, ["file", "path", "commit", "bytes", "sha256", "digest"], &rows)?;
    session.printer.note(&format!("next: scorelake{} run {} {}", session.lake_option(), dataset.id, paths.join(" ")));
    Ok(Outcome::Complete)
}

/// Expands inputs of which some are files of the hub: those are fetched, all others are as `source::expand` has them.
pub(super) fn expand(session: &Session, inputs: &[String]) -> Result<Expanded> {
    let archive = |input: &str| source::split_archive(input).map_or(input, |(archive, _)| archive).to_owned();
    let (urls, others): (Vec<&String>, Vec<&String>) =
        inputs.iter().partition(|input| RemoteFile::of_url(&archive(input)).is_some());
    let others: Vec<String> = others.into_iter().cloned().collect();
    let mut expanded = source::expand(&others);
    if urls.is_empty() {
        return Ok(expanded);
    }
    let hub = Hub::new(Environment::of_process())?;
    for url in urls {
        let Some(file) = RemoteFile::of_url(&archive(url)) else { continue };
        let added = file.and_then(|file| {
            let fetched = fetch(session, &hub, &file)?;
            let location = Location {
                uri: file.uri(),
                file: File::Disk(fetched.path),
                size: fetched.bytes,
                revision: Some(fetched.commit),
            };
            match source::split_archive(url) {
                Some((_, member)) => expanded.unpack(&location, member),
                None => {
                    expanded.locations.push(location);
                    Ok(())
                }
            }
        });
        if let Err(error) = added {
            expanded.failed.push((url.clone(), error));
        }
    }
    expanded.locations.sort_by(|a, b| a.uri.cmp(&b.uri));
    expanded.locations.dedup_by(|a, b| a.uri == b.uri && a.revision == b.revision);
    Ok(expanded)
}

fn fetch(session: &Session, hub: &Hub, file: &RemoteFile) -> Result<Fetched> {
    hub.fetch(file, &told(session, &file.file)?, &|told| session.printer.warn(told))
}

/// A bar over the bytes of a download, gone when the download lets go of it.
fn told(session: &Session, name: &str) -> Result<Progress> {
    let bar = Bar::download(session, name)?;
    Ok(Arc::new(move |done, total| bar.bytes_done(done, total)))
}

/// Puts a file of the cache elsewhere, whole or not at all.
fn put(from: &Path, to: &Path) -> Result<PathBuf> {
    let folder = to.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, "make the folder", e))?;
    let temporary = tempfile::Builder::new()
        .prefix(".writing-")
        .tempfile_in(folder)
        .map_err(|e| Error::io(folder, "write in the folder", e))?;
    std::fs::copy(from, temporary.path()).map_err(|e| Error::io(to, "write", e))?;
    temporary.persist(to).map_err(|e| Error::io(to, "write", e.error))?;
    Ok(to.to_path_buf())
}
