//! The lake: Parquet parts, manifests that say which of them count, and a session that shows them as tables.

mod bind;

mod duplicates;
mod load;
mod lock;
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

pub use load::ingest;
pub(crate) use parquet::PartWriter;
pub(crate) use publish::{lock, restricted};
pub use request::{Control, IngestRequest, IngestSummary, OnError, Progress};
pub use staging::Staging;

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::store::{self, Folder, Version, Written};

/// Version of the lake's layout that this code writes and reads.
pub const FORMAT: u32 = 1;

/// A lake, on disk or in a bucket.
#[derive(Debug, Clone)]
pub struct Lake {
    root: Folder,
}

#[derive(Serialize, Deserialize)]
struct Marker {
    format: u32,
}

impl Lake {
    /// Opens a lake, a folder or a URL of a bucket; it must exist.
    pub fn open(root: impl AsRef<Path>) -> Result<Self> {
        let root = root.as_ref();
        Self::if_there(root)?.ok_or_else(|| {
            Error::new(ErrorKind::Lake, "no lake here")
                .with("lake", store::redact(&root.display().to_string()))
                .hint("make one with `scorelake run` or `scorelake ingest`, or name another with --lake")
        })
    }

    /// Opens a lake, if there is one.
    pub fn if_there(root: impl AsRef<Path>) -> Result<Option<Self>> {
        let lake = Self { root: Folder::named(root.as_ref())? };
        if lake.has_marker()? { lake.resolved().map(Some) } else { Ok(None) }
    }

    /// Opens a lake, making it if the folder is absent or empty.
    pub fn create(root: impl AsRef<Path>) -> Result<Self> {
        let lake = Self { root: Folder::named(root.as_ref())? };
        if lake.has_marker()? {
            return lake.resolved();
        }
        if let Folder::Disk(root) = &lake.root {
            std::fs::create_dir_all(root).map_err(|e| Error::io(root, "make the lake's folder", e))?;
        }
        if lake.root.holds_something()? && !lake.has_marker()? {
            return Err(Error::new(ErrorKind::Lake, "the folder is not empty and no lake")
                .with("lake", &lake.root)
                .hint("name an empty or new folder with --lake"));
        }
        lake.require_conditions()?;
        let marker = serde_json::json!({ "format": FORMAT });
        let written = lake.root.file(MARKER).write_if(format!("{marker}\n").as_bytes(), &Version::Absent)?;
        // Another process that made it meanwhile may be of another version.
        if written == Written::Refused {
            lake.has_marker()?;
        }
        lake.resolved()
    }

    /// A store that takes no notice of conditions would let two writers overwrite each other, and say nothing: it is tried before a lake is made.
    fn require_conditions(&self) -> Result<()> {
        if self.root.path().is_some() {
            return Ok(());
        }
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let trial = self.root.file(&format!("{}{}-{nanos}", store::TEMPORARY, std::process::id()));
        let (first, second) = (trial.write_if(b"1", &Version::Absent)?, trial.write_if(b"2", &Version::Absent)?);
        let version = trial.read_versioned()?.map_or(Version::Absent, |(_, version)| version);
        let third = trial.write_if(b"3", &version)?;
        let stale = trial.write_if(b"4", &version)?;
        trial.remove()?;
        if (first, second, third, stale) == (Written::Done, Written::Refused, Written::Done, Written::Refused) {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Lake, "the store takes no notice of conditions, or too much: it cannot keep two writers apart")
            .with("lake", &self.root)
            .hint("a lake needs a store with conditional writes (If-None-Match, If-Match), as S3, Google, Azure and newer servers have"))
    }

    /// The same lake under its absolute path without `..`, which URLs of files need.
    fn resolved(self) -> Result<Self> {
        let Folder::Disk(root) = &self.root else { return Ok(self) };
        let root = root.canonicalize().map_err(|e| Error::io(root, "open", e))?;
        Ok(Self { root: Folder::Disk(root) })
    }

    /// Keeps parts that are replaced meanwhile from being removed, as long as the guard lives. A dataset that was never
    /// published has nothing to keep; in a bucket `lake gc` goes by age alone.
    pub fn reading(&self, dataset: &str) -> Result<Option<std::fs::File>> {
        let Some(path) = self.readers(dataset) else { return Ok(None) };
        match std::fs::File::open(&path) {
            Ok(file) => {
                file.lock_shared().map_err(|e| Error::io(&path, "lock", e))?;
                Ok(Some(file))
            }
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io(&path, "open", e)),
        }
    }

    fn readers(&self, dataset: &str) -> Option<PathBuf> {
        Some(self.dataset_dir(dataset).path()?.join(".readers"))
    }

    /// A guard that is given only while nobody reads, and where there are such guards.
    fn without_readers(&self, dataset: &str) -> Option<std::fs::File> {
        let path = self.readers(dataset)?;
        let file = std::fs::File::options().create(true).append(true).open(path).ok()?;
        file.try_lock().is_ok().then_some(file)
    }

    /// A lake without place, for planning without data.
    pub(crate) fn nowhere() -> Self {
        Self { root: Folder::Disk(PathBuf::new()) }
    }

    /// Whether there is a marker; one that this version cannot read is an error.
    fn has_marker(&self) -> Result<bool> {
        let file = self.root.file(MARKER);
        let Some(text) = file.read()? else { return Ok(false) };
        let marker: Marker = serde_json::from_slice(&text).map_err(|e| {
            Error::new(ErrorKind::Corrupt, format!("the lake's marker does not parse: {e}"))
                .with("file", &file)
                .caused_by(e)
        })?;
        require_format(marker.format, &file).map(|()| true)
    }

    /// The lake's folder.
    pub fn root(&self) -> &Folder {
        &self.root
    }

    /// Folder of a dataset's tables.
    pub fn dataset_dir(&self, dataset: &str) -> Folder {
        self.root.join("datasets").join(dataset)
    }

    /// Folder of a table's parts.
    pub fn table_dir(&self, dataset: &str, table: &str) -> Folder {
        self.dataset_dir(dataset).join(table)
    }

    /// Folder of a dataset's rejects.
    pub fn rejects_dir(&self, dataset: &str) -> Folder {
        self.root.join("rejects").join(dataset)
    }

    /// Folder of unpublished work: in the lake, or on this machine if the lake is in a bucket.
    pub fn staging_dir(&self) -> Result<PathBuf> {
        match &self.root {
            Folder::Disk(root) => Ok(root.join("staging")),
            Folder::Bucket(..) => store::scratch("staging", &self.root.to_string()),
        }
    }

    /// Folder of run records.
    pub fn runs_dir(&self) -> Folder {
        self.root.join("runs")
    }

    /// Folder of a dataset's snapshots.
    pub fn snapshots_dir(&self, dataset: &str) -> Folder {
        self.root.join("snapshots").join(dataset)
    }
}

const MARKER: &str = "lake.json";

/// Refuses what a newer version wrote.
pub(crate) fn require_format(found: u32, file: impl Display) -> Result<()> {
    if found <= FORMAT {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Lake,
        format!("written by a newer scorelake (format {found}; this one reads up to {FORMAT})"),
    )
    .with("file", file)
    .hint("update scorelake"))
}
