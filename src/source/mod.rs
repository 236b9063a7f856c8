//! Where bytes come from: paths, directories and globs become files; files become segments of whole records.
//!
//! A [`Location`] is the seam for stores and the web: what opens one gives a stream, and nothing above asks what it is.

mod buffer;
mod expand;
mod lines;
mod open;
mod rows;
mod segment;

pub use expand::{Expanded, expand};
pub(crate) use open::hex;
pub use open::{Opened, digest, open};
pub use segment::{Content, Record, Row, Segment, Segments};

use std::path::PathBuf;

/// Something that can be opened for reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Its name in manifests: the absolute path, or where it was fetched from.
    pub uri: String,
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// The commit that it was fetched at, if it was.
    pub revision: Option<String>,
}

impl Location {
    /// What separates its values, if it is a table by its name; otherwise it is JSON.
    pub fn delimiter(&self) -> Option<u8> {
        expand::delimiter(&self.uri)
    }
}
