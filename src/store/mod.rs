//! Where files are: a folder on disk, or a prefix in a bucket. A lake, its snapshots and what is published stand on this; nothing above
//! asks which of the two it is, but for what only one of them can: locks and links on disk, conditional writes in a bucket.

mod bucket;
mod cache;
mod chunks;
#[cfg(feature = "cloud")]
mod credentials;
mod errors;
mod file;
mod folder;
#[cfg(feature = "cloud")]
mod profile;
mod redact;
mod runtime;
mod scratch;
mod stream;
mod upload;
mod web;

pub use bucket::{Bucket, Object};
pub use chunks::{Chunks, Failure};
pub(crate) use errors::explain;
pub use file::{File, Stamp, Version, Written};
pub use folder::{Entry, Folder};
pub(crate) use folder::{TEMPORARY, copy_atomically, parent, sync_dir, write_atomically};
pub(crate) use folder::{is_half_url, is_name, is_remote};
pub use redact::redact;
pub(crate) use runtime::wait;
pub(crate) use scratch::{cache_dir, scratch};
pub(crate) use upload::upload_all;
pub use web::Web;
pub(crate) use web::{client, client_without_redirects};

/// Schemes of URLs that are places in a bucket.
pub const BUCKET_SCHEMES: [&str; 7] = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss"];
