//! Publishing a snapshot to others: its tables as they are, a manifest that tells nothing of this machine, and a card.

mod card;
mod hub;

pub use card::{Board, card};
pub use hub::{HubTarget, commit};

use std::collections::BTreeSet;

use crate::error::{Error, ErrorKind, Result};
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
pub fn files(snapshot: &Snapshot, board: Option<&Board>, title: &str) -> Result<Vec<Outgoing>> {
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
    for (name, text) in [(MANIFEST, manifest.to_text()?), (CARD, card(&manifest, board, title))] {
        let bytes = text.into_bytes();
        files.push(Outgoing { name: name.into(), bytes: bytes.len() as u64, content: Content::Bytes(bytes) });
    }
    Ok(files)
}

/// The manifest with files of this machine by their names alone: where they lie here is nobody's business, and their digests say which they are.
fn told(manifest: &SnapshotManifest) -> SnapshotManifest {
    let mut told = manifest.clone();
    let of_machine = |uri: &String| !uri.contains("://") || uri.starts_with("file://");
    for uri in told.inputs.iter_mut().flat_map(|input| &mut input.uris).filter(|uri| of_machine(uri)) {
        *uri = uri.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    }
    told
}

/// Writes the files into a folder or a bucket. What is there may only be an earlier publication, whose tables that are no more are removed, or
/// what is left of this one, cut short. The manifest goes first and comes last: in between there is no publication, and never a mix of two.
pub fn write(files: &[Outgoing], to: &Folder) -> Result<()> {
    let there: Vec<String> = to.files()?.into_iter().map(|entry| entry.inside).collect();
    let ours: BTreeSet<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let mut known: BTreeSet<String> = [MANIFEST, CARD].map(str::to_owned).into();
    if there.iter().any(|name| name == MANIFEST) {
        let earlier = SnapshotManifest::load(to)?;
        known.extend(earlier.tables.into_iter().map(|table| table.file));
        // A snapshot of a lake has no card.
        if !there.iter().any(|name| name == CARD) {
            return Err(refused(to, "a snapshot of a lake"));
        }
    } else {
        known.extend(ours.iter().map(|name| (*name).to_owned()));
    }
    if let Some(other) = there.iter().find(|name| !known.contains(*name)) {
        return Err(refused(to, &format!("`{other}`, which is of no publication")));
    }
    to.file(MANIFEST).remove()?;
    let (last, first): (Vec<&Outgoing>, Vec<&Outgoing>) = files.iter().partition(|file| file.name == MANIFEST);
    for file in first.into_iter().chain(last) {
        let target = to.file(&file.name);
        target.write(&file.content.read()?)?;
        if target.sha256()? != file.content.sha256()? {
            return Err(Error::new(ErrorKind::Corrupt, "what was written is not what was sent").with("file", target));
        }
    }
    let stale = there.iter().filter(|name| !ours.contains(name.as_str()));
    stale.into_iter().try_for_each(|name| to.file(name).remove())
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
