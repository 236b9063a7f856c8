//! Where bytes come from: paths, directories and globs become files; files become segments of whole lines.
//!
//! A [`Location`] is the seam for stores and the web: what opens one gives a stream, and nothing above asks what it is.

mod expand;
mod open;
mod segments;

pub use expand::{Expanded, expand};
pub(crate) use open::hex;
pub use open::{Opened, digest, open};
pub use segments::{Line, Segment, Segments};

use std::path::PathBuf;

/// Something that can be opened for reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Its name in manifests: the absolute path.
    pub uri: String,
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
}
