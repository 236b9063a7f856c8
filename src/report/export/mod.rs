//! A snapshot's tables as files for other programs: one exporter, one file.
//!
//! An export is written under a temporary name and renamed, and takes no name that is taken unless told so.

mod official;
mod text;
mod xlsx;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

pub use official::{OFFICIAL_OF, official};
pub use text::{csv, json};
pub use xlsx::xlsx;

use crate::error::{Error, ErrorKind, Result};
use crate::source::hex;

/// What an export did.
#[derive(Debug, Default)]
pub struct Exported {
    /// Files written.
    pub files: Vec<PathBuf>,
    /// What was changed so that the file's form could hold it.
    pub notes: Vec<String>,
}

/// Where an export goes.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// A file or folder, as the exporter says.
    pub path: &'a Path,
    /// Whether files that are there may be replaced.
    pub replace: bool,
}

impl Target<'_> {
    /// A file in the target, which is a folder.
    fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Refuses names that are taken, before anything is written.
    fn require_free<'p>(&self, paths: impl IntoIterator<Item = &'p PathBuf>) -> Result<()> {
        for path in paths {
            match std::fs::symlink_metadata(path) {
                // Renaming over a device, a pipe or a link would put a file in its place.
                Ok(there) if !there.is_file() => {
                    return Err(Error::new(ErrorKind::Usage, "there is something that is no regular file")
                        .with("file", path.display())
                        .hint("give the path of a file that may be written"));
                }
                Ok(_) if !self.replace => {
                    return Err(Error::new(ErrorKind::Usage, "the file is there already")
                        .with("file", path.display())
                        .hint("--force replaces it"));
                }
                Ok(_) => {}
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                Err(e) => return Err(Error::io(path, "write", e)),
            }
        }
        Ok(())
    }

    /// Writes a file whole or not at all.
    fn write(&self, path: &Path, fill: impl FnOnce(&mut BufWriter<&File>) -> Result<()>) -> Result<()> {
        self.require_free([&path.to_path_buf()])?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, "make the folder", e))?;
        let temporary = temporary_in(folder).map_err(|e| Error::io(path, "write", e))?;
        let mut writer = BufWriter::new(temporary.as_file());
        fill(&mut writer).map_err(|e| if e.context("file").is_none() { e.with("file", path.display()) } else { e })?;
        writer.flush().map_err(|e| Error::io(path, "write", e))?;
        drop(writer);
        temporary.persist(path).map_err(|e| Error::io(path, "write", e.error))?;
        Ok(())
    }
}

/// A temporary file that others may read as the user's mask allows: an export is a file like any other.
fn temporary_in(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".scorelake-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Bytes of a file name, with room for an extension.
const NAME_BYTES: usize = 180;

/// A name as a part of a file name that every system takes: what is not a letter, digit, `.`, `-` or `_` is `%xx`, and so is a
/// dot in front. A long one is cut and ends in a digest of the whole.
fn file_name(name: &str) -> String {
    let mut out = String::new();
    for (at, c) in name.char_indices() {
        if c.is_alphanumeric() || matches!(c, '-' | '_') || (c == '.' && at > 0) {
            out.push(c);
        } else {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes).bytes().for_each(|byte| out += &format!("%{byte:02x}"));
        }
    }
    if out.len() > NAME_BYTES {
        let digest = hex(&Sha256::digest(name.as_bytes())[..4]);
        let end = (0..=NAME_BYTES - 9).rev().find(|end| out.is_char_boundary(*end)).unwrap_or(0);
        out.truncate(end);
        out += &format!("~{digest}");
    }
    out
}
