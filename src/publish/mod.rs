//! Publishing a snapshot to others: its tables as they are, a manifest that tells nothing of this machine, and a card.

mod card;
mod hub;

pub use card::{Board, card};
pub use hub::{HubTarget, commit};

use std::collections::BTreeSet;

use crate::error::{Error, ErrorKind, Result};
use crate::schema::dataset::Dataset;
use crate::snapshot::{Snapshot, SnapshotManifest, verify};
use crate::store::{File, Folder};

/// A file to publish.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// Its name at the target.
    pub name: String,
    /// Its content.
    pub content: Content,
    /// Its size.
    pub bytes: u64,
}

/// What a file to publish holds.
#[derive(Debug, Clone)]
pub enum Content {
    /// A table of the snapshot, as it is.
    File(File),
    /// Made for publishing.
    Bytes(Vec<u8>),
}

/// The manifest's name, and the card's.
const MANIFEST: &str = "manifest.json";
const CARD: &str = "README.md";

/// The files of a snapshot, the card last. A snapshot that is not sound is not published.
pub fn files(snapshot: &Snapshot, board: Option<&Board>, dataset: &Dataset) -> Result<Vec<Outgoing>> {
    let verified = verify(snapshot)?;
    if let Some(problem) = verified.problems.first() {
        return Err(Error::new(ErrorKind::Corrupt, format!("the snapshot is not as it was published: {problem}"))
            .with("snapshot", &snapshot.dir)
            .hint("score again; `scorelake snapshot verify` tells all that differs"));
    }
    let manifest = told(&snapshot.manifest);
    let mut files: Vec<Outgoing> = manifest
        .tables
        .iter()
        .map(|table| Outgoing {
            name: table.file.clone(),
            content: Content::File(snapshot.dir.file(&table.file)),
            bytes: table.bytes,
        })
        .collect();
    for (name, text) in [(MANIFEST, manifest.to_text()?), (CARD, card(&manifest, board, dataset)?)] {
        let bytes = text.into_bytes();
        files.push(Outgoing { name: name.into(), bytes: bytes.len() as u64, content: Content::Bytes(bytes) });
    }
    Ok(files)
}

/// The manifest with files of this machine by their names alone, and as many folders as tell them apart: where they lie here is nobody's business,
/// and their digests say which they are.
fn told(manifest: &SnapshotManifest) -> SnapshotManifest {
    let mut told = manifest.clone();
    let of_machine = |uri: &&mut String| !uri.contains("://") || uri.starts_with("file://");
    let mut uris: Vec<&mut String> =
        told.inputs.iter_mut().flat_map(|input| &mut input.uris).filter(of_machine).collect();
    let parts: Vec<Vec<String>> =
        uris.iter().map(|uri| uri.split(['/', '\\']).map(str::to_owned).collect::<Vec<_>>()).collect();
    let folders = || parts.iter().map(|parts| &parts[..parts.len() - 1]);
    let first = folders().next().map_or(&[][..], |folder| folder);
    let common = (0..=first.len()).rev().find(|many| folders().all(|folder| folder.starts_with(&first[..*many])));
    for (uri, parts) in uris.iter_mut().zip(&parts) {
        **uri = parts[common.unwrap_or_default()..].join("/");
    }
    told
}

/// What publishing to a folder or a bucket would take the place of.
#[derive(Debug, Clone, Default)]
pub struct Replaced {
    /// The snapshot that is published there.
    pub id: Option<String>,
    /// Its tables that are no more.
    pub stale: Vec<String>,
}

/// Looks at the target. There may only be an earlier publication of the same dataset, or what is left of this one, cut short.
pub fn look(files: &[Outgoing], to: &Folder, dataset: &str) -> Result<Replaced> {
    let there: Vec<String> = to.files()?.into_iter().map(|entry| entry.inside).collect();
    let ours: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let mut known: BTreeSet<String> = [MANIFEST, CARD].map(str::to_owned).into();
    let mut replaced = Replaced::default();
    if there.iter().any(|name| name == MANIFEST) {
        let earlier = SnapshotManifest::load(to)?;
        known.extend(earlier.tables.into_iter().map(|table| table.file));
        // A snapshot of a lake has no card.
        if !there.iter().any(|name| name == CARD) {
            return Err(refused(to, "a snapshot of a lake"));
        }
        if earlier.dataset != dataset {
            return Err(refused(to, &format!("a publication of {}", earlier.dataset)));
        }
        replaced.id = Some(earlier.id);
    } else {
        known.extend(ours.iter().map(|name| (*name).to_owned()));
    }
    if let Some(other) = there.iter().find(|name| !known.contains(*name)) {
        return Err(refused(to, &format!("`{other}`, which is of no publication")));
    }
    replaced.stale = there.into_iter().filter(|name| !ours.contains(name.as_str())).collect();
    Ok(replaced)
}

/// Writes the files. The manifest goes first and comes last: in between there is no publication, and never a mix of two.
pub fn write(files: &[Outgoing], to: &Folder, replaced: &Replaced) -> Result<()> {
    to.file(MANIFEST).remove()?;
    let (last, first): (Vec<&Outgoing>, Vec<&Outgoing>) = files.iter().partition(|file| file.name == MANIFEST);
    for file in first.into_iter().chain(last) {
        let target = to.file(&file.name);
        target.write(&file.content.read()?)?;
        if target.sha256()? != file.content.sha256()? {
            return Err(Error::new(ErrorKind::Corrupt, "what was written is not what was sent").with("file", target));
        }
    }
    replaced.stale.iter().try_for_each(|name| to.file(name).remove())
}

fn refused(to: &Folder, what: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("the target is not empty: there is {what}"))
        .with("target", to)
        .hint("name a new folder or prefix, or that of an earlier publication")
}

impl Content {
    fn read(&self) -> Result<Vec<u8>> {
        match self {
            Self::File(file) => file.read_required(),
            Self::Bytes(bytes) => Ok(bytes.clone()),
        }
    }

    /// SHA-256, in hexadecimal.
    pub fn sha256(&self) -> Result<String> {
        match self {
            Self::File(file) => file.sha256(),
            Self::Bytes(bytes) => {
                use sha2::{Digest, Sha256};
                Ok(crate::source::hex(&Sha256::digest(bytes)))
            }
        }
    }
}
