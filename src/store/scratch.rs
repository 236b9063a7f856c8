//! A folder of this machine for work whose result goes elsewhere: parts of a lake in a bucket before they are uploaded.

use std::ffi::OsString;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::error::{Error, ErrorKind, Result};
use crate::source::hex;

/// The variable that moves it.
const VARIABLE: &str = "SCORELAKE_CACHE";

/// The folder for one purpose and one place: the same each time, so that work that was cut short is gone on with.
pub(crate) fn scratch(purpose: &str, of: &str) -> Result<PathBuf> {
    Ok(cache_dir()?.join(purpose).join(hex(&Sha256::digest(of.as_bytes())[..8])))
}

/// scorelake's own cache: `SCORELAKE_CACHE`, else a folder in the user's cache.
pub(crate) fn cache_dir() -> Result<PathBuf> {
    let given = std::env::var_os(VARIABLE).filter(|value: &OsString| !value.is_empty()).map(PathBuf::from);
    let of_user = || directories::BaseDirs::new().map(|dirs| dirs.cache_dir().join("scorelake"));
    given.or_else(of_user).ok_or_else(|| {
        Error::new(ErrorKind::Usage, "this user has no folder for caches")
            .hint(format!("set {VARIABLE} to a folder, or HOME"))
    })
}
