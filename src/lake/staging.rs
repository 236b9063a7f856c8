//! Folders of unpublished work, each locked by the process that fills it: one that can be locked is nobody's any more.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use super::Lake;
use super::upkeep::Moved;
use crate::error::{Error, Result};

/// A folder for files that are not published yet.
#[derive(Debug)]
pub struct Staging {
    dir: PathBuf,
    lock: Option<File>,
    is_kept: bool,
}

impl Staging {
    /// A folder of this process alone, removed when dropped; leftovers of dead processes are removed now.
    pub fn private(lake: &Lake, prefix: &str) -> Result<Self> {
        let parent = make(lake.staging_dir()?)?;
        remove_dead(&parent)?;
        let dir = tempfile::Builder::new()
            .prefix(&format!("{PRIVATE}{prefix}-"))
            .tempdir_in(&parent)
            .map_err(|e| Error::io(&parent, "make a folder", e))?
            .keep();
        // Locked before it has the name by which it is looked for.
        let path = lock_path(&dir);
        let unnamed = dir.with_extension("locking");
        let lock = File::create(&unnamed).map_err(|e| Error::io(&unnamed, "write", e))?;
        let locked = lock.lock().and_then(|()| std::fs::rename(&unnamed, &path));
        locked.map_err(|e| Error::io(&path, "lock", e))?;
        Ok(Self { dir, lock: Some(lock), is_kept: false })
    }

    /// The folder of this name, whose files outlive this process unless [`Staging::discard`] is called: a later run goes on
    /// with them. A private folder if another process is at work in it.
    pub fn resumable(lake: &Lake, name: &str) -> Result<Self> {
        let dir = make(lake.staging_dir()?)?.join(name);
        let path = lock_path(&dir);
        loop {
            let lock = File::options()
                .create(true)
                .append(true)
                .open(&path)
                .map_err(|e| Error::io(&path, "open the lock", e))?;
            match lock.try_lock() {
                // Whoever held it may have removed it together with the folder.
                Ok(()) if !path.exists() => {}
                Ok(()) => return Ok(Self { dir: make(dir)?, lock: Some(lock), is_kept: true }),
                Err(TryLockError::WouldBlock) => return Self::private(lake, name),
                Err(TryLockError::Error(e)) => return Err(Error::io(&path, "lock", e)),
            }
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Its files are published or of no use: they go.
    pub fn discard(mut self) {
        self.is_kept = false;
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.is_kept {
            remove(&self.dir);
        }
        drop(self.lock.take());
    }
}

const PRIVATE: &str = "private-";

fn make(dir: PathBuf) -> Result<PathBuf> {
    std::fs::create_dir_all(&dir).map_err(|e| Error::io(&dir, "make the folder", e))?;
    Ok(dir)
}

fn lock_path(dir: &Path) -> PathBuf {
    dir.with_extension("lock")
}

/// Best effort: what stays is read by nobody and is tried again by a later run.
fn remove(dir: &Path) {
    let _gone = std::fs::remove_dir_all(dir);
    let _gone = std::fs::remove_file(lock_path(dir));
}

fn remove_dead(parent: &Path) -> Result<()> {
    for entry in std::fs::read_dir(parent).map_err(|e| Error::io(parent, "list", e))? {
        let path = entry.map_err(|e| Error::io(parent, "list", e))?.path();
        let is_private = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PRIVATE));
        if is_private && path.extension().is_some_and(|extension| extension == "lock") {
            let lock = File::open(&path);
            if lock.as_ref().is_ok_and(|lock| lock.try_lock().is_ok()) {
                remove(&path.with_extension(""));
            }
        }
    }
    Ok(())
}

/// Removes every folder of staged work that no process holds, and the files beside.
pub(super) fn remove_unheld(lake: &Lake) -> Result<Moved> {
    let parent = lake.staging_dir()?;
    let mut removed = Moved::default();
    let entries = match std::fs::read_dir(&parent) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(removed),
        Err(e) => return Err(Error::io(&parent, "list", e)),
    };
    for entry in entries {
        let path = entry.map_err(|e| Error::io(&parent, "list", e))?.path();
        if !path.is_dir() {
            continue;
        }
        // Held while it is removed: a run that starts now waits in another folder.
        let lock = File::options().create(true).append(true).open(lock_path(&path));
        let lock = lock.map_err(|e| Error::io(&path, "open the lock", e))?;
        if lock.try_lock().is_err() {
            continue;
        }
        for file in std::fs::read_dir(&path).map_err(|e| Error::io(&path, "list", e))?.flatten() {
            removed.add(file.metadata().map_err(|e| Error::io(&path, "read", e))?.len());
        }
        std::fs::remove_dir_all(&path).map_err(|e| Error::io(&path, "remove", e))?;
        std::fs::remove_file(lock_path(&path)).map_err(|e| Error::io(&path, "remove the lock", e))?;
    }
    Ok(removed)
}
