//! Names that a file's place tells: of the model, run or collection that its folders are called by.

use crate::error::{Error, ErrorKind, Result};
use crate::source::Location;

/// The folder so many levels above the file, 1 for the one it is in; on any path separator.
pub(super) fn folder(location: &Location, level: usize) -> Option<String> {
    let parts: Vec<&str> = location.path().split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    let name = parts.len().checked_sub(level + 1).and_then(|at| parts.get(at))?;
    (!name.contains(':') && *name != "." && *name != "..").then(|| (*name).to_owned())
}

/// The name given on the command line, or else that of a folder.
pub(super) fn given_or_folder(given: &str, location: &Location, level: usize, setting: &str) -> Result<String> {
    if !given.is_empty() {
        return Ok(given.to_owned());
    }
    folder(location, level).ok_or_else(|| {
        Error::new(ErrorKind::Usage, "the file is in no folder whose name could be taken")
            .hint(format!("give the name with {setting}"))
    })
}
