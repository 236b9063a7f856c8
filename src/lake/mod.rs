//! The lake: Parquet parts, manifests that say which of them count, and a session that shows them as tables.

mod bind;

mod duplicates;
mod files;
mod load;
pub mod manifest;
pub(crate) mod parquet;
mod permits;
mod publish;
mod request;
pub mod runs;
mod segment;
pub mod session;
mod staging;
mod text_hash;
pub mod upkeep;

pub(crate) use files::write_atomically;
pub use load::ingest;
pub(crate) use parquet::PartWriter;
pub(crate) use publish::{lock, restricted};
pub use request::{Control, IngestRequest, IngestSummary, OnError, Progress};
pub use staging::Staging;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};

/// Version of the lake's layout that this code writes and reads.
pub const FORMAT: u32 = 1;

/// A lake on disk.
#[derive(Debug, Clone)]
pub struct Lake {
    root: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Marker {
    format: u32,
}

impl Lake {
    /// Opens a lake, which must exist.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self> {
        let lake = Self { root: root.into() };
        if !lake.marker().exists() {
            return Err(Error::new(ErrorKind::Lake, "no lake here")
                .with("lake", lake.root.display())
                .hint("make one with `scorelake run` or `scorelake ingest`, or name another with --lake"));
        }
        lake.check_format()?;
        lake.resolved()
    }

    /// Opens a lake, making it if the folder is absent or empty.
    pub fn create(root: impl Into<PathBuf>) -> Result<Self> {
        let lake = Self { root: root.into() };
        if lake.marker().exists() {
            lake.check_format()?;
            return lake.resolved();
        }
        std::fs::create_dir_all(&lake.root).map_err(|e| Error::io(&lake.root, "make the lake's folder", e))?;
        let entries = std::fs::read_dir(&lake.root).map_err(|e| Error::io(&lake.root, "list", e))?;
        // Another process may be writing the marker.
        let is_foreign = |name: std::ffi::OsString| !name.to_string_lossy().starts_with(files::TEMPORARY);
        if entries.flatten().any(|entry| is_foreign(entry.file_name())) && !lake.marker().exists() {
            return Err(Error::new(ErrorKind::Lake, "the folder is not empty and no lake")
                .with("lake", lake.root.display())
                .hint("name an empty or new folder with --lake"));
        }
        let marker = serde_json::json!({ "format": FORMAT });
        write_atomically(&lake.marker(), format!("{marker}\n").as_bytes())?;
        lake.resolved()
    }

    /// The same lake under its absolute path without `..`, which URLs of files need.
    fn resolved(self) -> Result<Self> {
        let root = self.root.canonicalize().map_err(|e| Error::io(&self.root, "open", e))?;
        Ok(Self { root })
    }

    /// Keeps parts that are replaced meanwhile from being removed, as long as the guard lives. A dataset that was never
    /// published has nothing to keep.
    pub fn reading(&self, dataset: &str) -> Result<Option<std::fs::File>> {
        let path = self.dataset_dir(dataset).join(".readers");
        match std::fs::File::open(&path) {
            Ok(file) => {
                file.lock_shared().map_err(|e| Error::io(&path, "lock", e))?;
                Ok(Some(file))
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io(&path, "open", e)),
        }
    }

    /// A guard that is given only while nobody reads.
    fn without_readers(&self, dataset: &str) -> Option<std::fs::File> {
        let path = self.dataset_dir(dataset).join(".readers");
        let file = std::fs::File::options().create(true).append(true).open(path).ok()?;
        file.try_lock().is_ok().then_some(file)
    }

    /// A lake without place, for planning without data.
    pub(crate) fn nowhere() -> Self {
        Self { root: PathBuf::new() }
    }

    fn marker(&self) -> PathBuf {
        self.root.join("lake.json")
    }

    fn check_format(&self) -> Result<()> {
        let path = self.marker();
        let text = std::fs::read_to_string(&path).map_err(|e| Error::io(&path, "read", e))?;
        let marker: Marker = serde_json::from_str(&text).map_err(|e| {
            Error::new(ErrorKind::Corrupt, format!("the lake's marker does not parse: {e}"))
                .with("file", path.display())
                .caused_by(e)
        })?;
        require_format(marker.format, &path)
    }

    /// The lake's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Folder of a dataset's tables.
    pub fn dataset_dir(&self, dataset: &str) -> PathBuf {
        self.root.join("datasets").join(dataset)
    }

    /// Folder of a table's parts.
    pub fn table_dir(&self, dataset: &str, table: &str) -> PathBuf {
        self.dataset_dir(dataset).join(table)
    }

    /// Folder of a dataset's rejects.
    pub fn rejects_dir(&self, dataset: &str) -> PathBuf {
        self.root.join("rejects").join(dataset)
    }

    /// Folder of unpublished work.
    pub fn staging_dir(&self) -> PathBuf {
        self.root.join("staging")
    }

    /// Folder of run records.
    pub fn runs_dir(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// Folder of a dataset's snapshots.
    pub fn snapshots_dir(&self, dataset: &str) -> PathBuf {
        self.root.join("snapshots").join(dataset)
    }
}

/// Refuses what a newer version wrote.
pub(crate) fn require_format(found: u32, path: &Path) -> Result<()> {
    if found <= FORMAT {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Lake,
        format!("written by a newer scorelake (format {found}; this one reads up to {FORMAT})"),
    )
    .with("file", path.display())
    .hint("update scorelake"))
}
