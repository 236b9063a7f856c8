//! Snapshots: result tables in a folder named by what they say, so that equal results have equal names anywhere.

mod diff;
pub mod digest;
mod manifest;
mod place;
mod publish;
mod read;
mod verify;

pub use diff::{Difference, Kind, Section, diff};
pub use manifest::{Input, SnapshotColumn, SnapshotManifest, SnapshotTable};
pub use publish::{Published, make_latest, publish, query_digests};
pub use read::Rows;
pub use verify::{Verified, verify};

use std::collections::BTreeSet;

use crate::error::{Error, ErrorKind, Result};
use crate::lake::Lake;
use crate::schema::TableSchema;
use crate::store::{File, Folder};

/// A snapshot, on disk or in a bucket.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Its folder.
    pub dir: Folder,
    /// Its manifest.
    pub manifest: SnapshotManifest,
}

impl Snapshot {
    /// Reads a snapshot's manifest.
    pub fn open(dir: Folder) -> Result<Self> {
        Ok(Self { manifest: SnapshotManifest::load(&dir)?, dir })
    }

    /// The file of a table, and the schema it was written with.
    pub fn table(&self, table: &str) -> Result<(File, TableSchema)> {
        let found = self.manifest.tables.iter().find(|entry| entry.name == table).ok_or_else(|| {
            let names: Vec<_> = self.manifest.tables.iter().map(|entry| entry.name.as_str()).collect();
            Error::new(ErrorKind::Usage, format!("the snapshot has no table `{table}`")).hint(format!(
                "tables: {}; tables of the lake are read with `scorelake sql`, and `scorelake schema` lists them",
                names.join(", ")
            ))
        })?;
        Ok((self.dir.file(&found.file), found.schema(&self.manifest.dataset)))
    }

    /// The first of these tables that has rows, or else the first one that is there.
    pub fn shown<'a>(&self, names: &'a [String]) -> Option<&'a String> {
        let rows =
            |name: &String| self.manifest.tables.iter().find(|entry| entry.name == *name).map(|entry| entry.rows);
        names
            .iter()
            .find(|name| rows(name).is_some_and(|rows| rows > 0))
            .or_else(|| names.iter().find(|name| rows(name).is_some()))
    }

    /// The rows of a table, at most `limit`.
    pub fn rows(&self, table: &str, limit: usize) -> Result<Rows> {
        let (file, schema) = self.table(table)?;
        Rows::open(&file, &schema, limit)
    }
}

/// Folders of all snapshots of a dataset, by id. In a bucket a folder is one when its manifest is there, which comes last; on disk it
/// appears whole, and one that lacks its manifest was damaged.
pub fn folders(lake: &Lake, dataset: &str) -> Result<Vec<Folder>> {
    let dir = lake.snapshots_dir(dataset);
    let is_on_disk = dir.path().is_some();
    let mut ids = BTreeSet::new();
    for entry in dir.files()? {
        if let Some((id, file)) = entry.inside.split_once('/')
            && (is_on_disk || file == MANIFEST)
        {
            ids.insert(id.to_owned());
        }
    }
    Ok(ids.iter().map(|id| dir.join(id)).collect())
}

const MANIFEST: &str = "manifest.json";

/// The id that `LATEST-<protocol>` names, if there is one.
pub fn latest(lake: &Lake, dataset: &str, protocol: &str) -> Result<Option<String>> {
    let Some((text, _)) = pointer(lake, dataset, protocol).read_versioned()? else { return Ok(None) };
    named(&text).map(Some).ok_or_else(|| {
        Error::new(ErrorKind::Corrupt, "the file names no snapshot")
            .with("file", pointer(lake, dataset, protocol))
            .hint("score again: that names one")
    })
}

/// The file that names the latest snapshot of a protocol.
fn pointer(lake: &Lake, dataset: &str, protocol: &str) -> File {
    lake.snapshots_dir(dataset).file(&format!("LATEST-{protocol}"))
}

/// The id that its text is, if it is one.
fn named(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let id = text.trim();
    (id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| id.to_owned())
}

/// Finds a snapshot by an id, a unique prefix of one, or a protocol; without a reference by the default protocol.
pub fn find(lake: &Lake, dataset: &str, protocols: &[String], reference: Option<&str>) -> Result<Snapshot> {
    let none = |message: String| {
        Error::new(ErrorKind::Lake, message)
            .with("dataset", dataset)
            .with("lake", lake.root())
            .hint(format!("make one with `scorelake score {dataset}`; `scorelake snapshot ls` lists them"))
    };
    if reference == Some("") {
        return Err(
            Error::new(ErrorKind::Usage, "nothing behind the @").hint("an id, the beginning of one, or a protocol")
        );
    }
    let wanted = match reference {
        Some(reference) if !protocols.iter().any(|protocol| protocol == reference) => reference.to_owned(),
        protocol => {
            let protocol = protocol.or(protocols.first().map(String::as_str)).unwrap_or("official");
            latest(lake, dataset, protocol)?.ok_or_else(|| none(format!("no snapshot of protocol `{protocol}`")))?
        }
    };
    let mut found = folders(lake, dataset)?;
    found.retain(|dir| dir.name().starts_with(&wanted));
    match found.len() {
        1 => Snapshot::open(found.remove(0)),
        0 => Err(none(format!("no snapshot `{wanted}`"))),
        _ => Err(Error::new(ErrorKind::Usage, format!("`{wanted}` begins several ids"))
            .hint(format!("one of {}", found.iter().map(Folder::name).collect::<Vec<_>>().join(", ")))),
    }
}
