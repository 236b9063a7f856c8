//! A snapshot's tables as files for other programs: one exporter, one file.
//!
//! An export is written under a temporary name and renamed, and takes no name that is taken unless told so.

mod official;
mod text;
mod xlsx;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

pub use official::official;
pub use text::{csv, json};
pub use xlsx::xlsx;

use crate::error::{Error, ErrorKind, Result};

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

impl<'a> Target<'a> {
    /// A file in the target, which is a folder.
    fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file whole or not at all.
    fn write(&self, path: &Path, fill: impl FnOnce(&mut BufWriter<&File>) -> Result<()>) -> Result<()> {
        if path.exists() && !self.replace {
            return Err(Error::new(ErrorKind::Usage, "the file is there already")
                .with("file", path.display())
                .hint("--force replaces it"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, "make the folder", e))?;
        let temporary = tempfile::Builder::new()
            .prefix(".scorelake-")
            .tempfile_in(folder)
            .map_err(|e| Error::io(path, "write", e))?;
        let mut writer = BufWriter::new(temporary.as_file());
        fill(&mut writer)?;
        writer.flush().map_err(|e| Error::io(path, "write", e))?;
        drop(writer);
        readable_by_all(temporary.as_file()).map_err(|e| Error::io(path, "write", e))?;
        temporary.persist(path).map_err(|e| Error::io(path, "write", e.error))?;
        Ok(())
    }
}

/// Temporary files are made for their owner alone; an export is a file like any other.
#[cfg(unix)]
fn readable_by_all(file: &File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn readable_by_all(_file: &File) -> std::io::Result<()> {
    Ok(())
}

/// A name as a file name that every system takes, reversibly: what is not a letter, digit, `.`, `-` or `_` is `%xx`, and so is
/// a dot in front.
fn file_name(name: &str) -> String {
    let mut out = String::new();
    for (at, byte) in name.bytes().enumerate() {
        let is_plain = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || (byte == b'.' && at > 0);
        if is_plain {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02x}");
        }
    }
    out
}
