//! Files that appear whole or not at all, and the lock that serialises publishing.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};

/// Names of files that are being written begin so.
pub(super) const TEMPORARY: &str = ".writing-";

/// Writes a file under another name, syncs it and renames it into place.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    let parent = parent(path);
    std::fs::create_dir_all(parent).map_err(|e| Error::io(parent, "make the folder", e))?;
    let mut temporary = tempfile::Builder::new()
        .prefix(TEMPORARY)
        .tempfile_in(parent)
        .map_err(|e| Error::io(parent, "write in the folder", e))?;
    let written = temporary.write_all(bytes).and_then(|()| temporary.as_file().sync_all());
    written.map_err(|e| Error::io(path, "write", e))?;
    make_readable(temporary.as_file(), path)?;
    temporary.persist(path).map_err(|e| Error::io(path, "write", e.error))?;
    sync_dir(parent)
}

/// Temporary files are private to their owner; published ones are as any new file.
#[cfg(unix)]
fn make_readable(file: &File, path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(|e| Error::io(path, "write", e))
}

#[cfg(not(unix))]
fn make_readable(_file: &File, _path: &Path) -> Result<()> {
    Ok(())
}

/// Makes renames in a folder last.
pub(super) fn sync_dir(dir: &Path) -> Result<()> {
    if cfg!(unix) {
        File::open(dir).and_then(|dir| dir.sync_all()).map_err(|e| Error::io(dir, "sync the folder", e))?;
    }
    Ok(())
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Held while a manifest is read, changed and swapped; the operating system lets go of it when the process ends.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock, waiting up to `patience`.
    pub(super) fn take(path: PathBuf, patience: Duration) -> Result<Self> {
        let parent = parent(&path).to_path_buf();
        std::fs::create_dir_all(&parent).map_err(|e| Error::io(&parent, "make the folder", e))?;
        let file =
            File::options().create(true).append(true).open(&path).map_err(|e| Error::io(&path, "open the lock", e))?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if start.elapsed() < patience => {
                    std::thread::sleep(Duration::from_millis(50))
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::new(ErrorKind::Conflict, "another process is publishing to this dataset")
                        .with("file", path.display())
                        .hint("wait for it to end and run again: finished parts are kept"));
                }
                Err(TryLockError::Error(e)) => return Err(Error::io(&path, "lock", e)),
            }
        }
    }
}
