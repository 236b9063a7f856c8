//! The lock that serialises publishing on disk.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};
use crate::store::{Folder, parent};

/// Held while a manifest is read, changed and swapped; the operating system lets go of it when the process ends. A bucket has none: there
/// the swap itself is refused to all writers but one.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: Option<File>,
}

impl Lock {
    /// Takes the lock, waiting up to `patience`.
    pub(super) fn take(dir: &Folder, patience: Duration) -> Result<Self> {
        let Some(path) = dir.path().map(|dir| dir.join(".lock")) else { return Ok(Self { _file: None }) };
        Self::take_file(path, patience)
    }

    fn take_file(path: PathBuf, patience: Duration) -> Result<Self> {
        let parent = parent(&path).to_path_buf();
        std::fs::create_dir_all(&parent).map_err(|e| Error::io(&parent, "make the folder", e))?;
        let file =
            File::options().create(true).append(true).open(&path).map_err(|e| Error::io(&path, "open the lock", e))?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: Some(file) }),
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
