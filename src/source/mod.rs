//! Where bytes come from: paths, directories, globs, URLs and archives become files; files become segments of whole records.
//!
//! A [`Location`] is the seam for stores and the web: what opens one gives a stream, and nothing above asks what it is.

mod archive;
mod buffer;
mod expand;
mod lines;
mod open;
mod remote;
mod rows;
mod segment;

pub(crate) use archive::each_file;
pub use archive::split as split_archive;
pub use expand::{Expanded, expand};
pub(crate) use open::hex;
pub use open::{Opened, open};
pub use segment::{Content, Record, Row, Segment, Segments};

use crate::store::File;

/// Something that can be opened for reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Its name in manifests: the absolute path, or where it was fetched from.
    pub uri: String,
    /// Where it is.
    pub file: File,
    /// Its size in bytes.
    pub size: u64,
    /// The commit that it was fetched at, if it was.
    pub revision: Option<String>,
}

impl Location {
    /// What separates its values, if it is a table by its name; otherwise it is JSON.
    pub fn delimiter(&self) -> Option<u8> {
        expand::delimiter(self.path())
    }

    /// What its URI says of folders and a name, without what a web server is asked beside.
    pub fn path(&self) -> &str {
        match &self.file {
            File::Web(_) => self.uri.split('?').next().unwrap_or(&self.uri),
            _ => &self.uri,
        }
    }
}
