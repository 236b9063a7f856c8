//! `runs/*.json`: what was run, when, and how it ended, also where it failed or was interrupted.
//!
//! A running record is locked by its process: a record that says "running" and can be locked belongs to a process that died.

use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::Lake;
use crate::error::{Error, ErrorKind, Result};

/// The record of the run of this process.
#[derive(Debug)]
pub struct RunRecord {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    record: Value,
    closed: bool,
}

impl RunRecord {
    /// Starts a record; records of dead processes are closed as interrupted.
    pub fn start(lake: &Lake, command: &[String]) -> Result<Self> {
        let dir = lake.runs_dir();
        std::fs::create_dir_all(&dir).map_err(|e| Error::io(&dir, "make the folder", e))?;
        close_dead(&dir)?;
        let (seconds, nanos) = now()?;
        let path = dir.join(format!("{seconds}-{nanos:09}-{}.json", std::process::id()));
        // Locked before it has the name by which others look for dead records.
        let unnamed = path.with_extension("starting");
        let file = File::options().create_new(true).read(true).write(true).open(&unnamed);
        let file = file.map_err(|e| Error::io(&unnamed, "write", e))?;
        let locked = file.lock().and_then(|()| std::fs::rename(&unnamed, &path));
        locked.map_err(|e| Error::io(&path, "lock the run record", e))?;
        let record = json!({
            "status": "running",
            "tool": concat!("scorelake ", env!("CARGO_PKG_VERSION")),
            "command": command,
            "started_unix": seconds,
        });
        let run = Self { path, state: Mutex::new(State { file, record, closed: false }) };
        run.set("process", json!(std::process::id()))?;
        Ok(run)
    }

    /// Adds a field.
    pub fn set(&self, key: &str, value: Value) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return Ok(());
        }
        state.record[key] = value;
        self.write(&mut state)
    }

    /// Ends the record with a status (`complete`, `partial`, `failed`, `interrupted`); a record ends once.
    pub fn close(&self, status: &str) -> Result<()> {
        let seconds = now()?.0;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.closed {
            return Ok(());
        }
        state.record["status"] = json!(status);
        state.record["ended_unix"] = json!(seconds);
        self.write(&mut state)?;
        state.closed = true;
        Ok(())
    }

    fn write(&self, state: &mut State) -> Result<()> {
        let text = format!("{:#}\n", state.record);
        // In place: a rename would lose the lock that tells the living from the dead.
        state
            .file
            .rewind()
            .and_then(|()| state.file.set_len(0))
            .and_then(|()| state.file.write_all(text.as_bytes()))
            .map_err(|e| Error::io(&self.path, "write the run record", e))
    }
}

fn now() -> Result<(u64, u32)> {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_err(|e| Error::new(ErrorKind::Io, "the clock stands before 1970").caused_by(e))?;
    Ok((since.as_secs(), since.subsec_nanos()))
}

fn close_dead(dir: &Path) -> Result<()> {
    for entry in std::fs::read_dir(dir).map_err(|e| Error::io(dir, "list", e))? {
        let path = entry.map_err(|e| Error::io(dir, "list", e))?.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let bytes = std::fs::read(&path).map_err(|e| Error::io(&path, "read", e))?;
        let parsed = serde_json::from_slice::<Value>(&bytes).ok();
        if parsed.as_ref().is_some_and(|record| record["status"] != "running") {
            continue;
        }
        let mut file = File::options().read(true).write(true).open(&path).map_err(|e| Error::io(&path, "open", e))?;
        if file.try_lock().is_err() {
            continue;
        }
        // A record cut short by the kill still says that there was a run.
        let mut record = parsed.unwrap_or_else(|| json!({ "note": "the record itself was cut short" }));
        record["status"] = json!("interrupted");
        let written = file.set_len(0).and_then(|()| file.write_all(format!("{record:#}\n").as_bytes()));
        written.map_err(|e| Error::io(&path, "write the run record", e))?;
    }
    Ok(())
}
