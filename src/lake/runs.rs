//! `runs/*.json`: what was run, when, and how it ended, also where it failed or was interrupted.
//!
//! On disk a running record is locked by its process: a record that says "running" and can be locked belongs to a process that died. In a
//! bucket only its age tells, and `lake gc` closes it.

use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::Lake;
use crate::error::{Error, ErrorKind, Result};
use crate::store::{self, Folder, Written};

/// The record of the run of this process.
#[derive(Debug)]
pub struct RunRecord {
    place: store::File,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The locked file; none in a bucket.
    file: Option<File>,
    record: Value,
    closed: bool,
}

impl RunRecord {
    /// Starts a record; records of dead processes are closed as interrupted.
    pub fn start(lake: &Lake, command: &[String]) -> Result<Self> {
        let (seconds, nanos) = now()?;
        let name = format!("{seconds}-{nanos:09}-{}.json", std::process::id());
        let place = lake.runs_dir().file(&name);
        let file = match lake.runs_dir() {
            Folder::Disk(dir) => Some(begin(&dir, &name)?),
            Folder::Bucket(..) => None,
        };
        let record = json!({
            "status": "running",
            "tool": concat!("scorelake ", env!("CARGO_PKG_VERSION")),
            "command": command.iter().map(|argument| store::redact(argument)).collect::<Vec<_>>(),
            "started_unix": seconds,
        });
        let run = Self { place, state: Mutex::new(State { file, record, closed: false }) };
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
        let Some(file) = &mut state.file else { return self.place.write(text.as_bytes()) };
        // In place: a rename would lose the lock that tells the living from the dead.
        file.rewind()
            .and_then(|()| file.set_len(0))
            .and_then(|()| file.write_all(text.as_bytes()))
            .map_err(|e| Error::io(self.place.to_string(), "write the run record", e))
    }
}

/// A locked file of this name.
fn begin(dir: &Path, name: &str) -> Result<File> {
    std::fs::create_dir_all(dir).map_err(|e| Error::io(dir, "make the folder", e))?;
    close_dead(dir)?;
    let path = dir.join(name);
    // Locked before it has the name by which others look for dead records.
    let unnamed = path.with_extension("starting");
    let file = File::options().create_new(true).read(true).write(true).open(&unnamed);
    let file = file.map_err(|e| Error::io(&unnamed, "write", e))?;
    let locked = file.lock().and_then(|()| std::fs::rename(&unnamed, &path));
    locked.map_err(|e| Error::io(&path, "lock the run record", e))?;
    Ok(file)
}

/// Closes records in a bucket that were last written longer ago than `age` and still say that they run.
pub(super) fn close_old(lake: &Lake, age: Duration) -> Result<u64> {
    let Folder::Bucket(..) = lake.runs_dir() else { return Ok(0) };
    let before = SystemTime::now().checked_sub(age);
    let mut closed = 0;
    for entry in lake.runs_dir().files()? {
        if entry.modified.zip(before).is_none_or(|(modified, before)| modified > before) {
            continue;
        }
        let Some((bytes, version)) = entry.file.read_versioned()? else { continue };
        // A record that cannot be read still says that there was a run.
        let record = serde_json::from_slice::<Value>(&bytes).ok();
        let mut record =
            record.unwrap_or_else(|| json!({ "note": "the record itself could not be read", "status": "running" }));
        if record["status"] == "running" {
            record["status"] = json!("interrupted");
            let written = entry.file.write_if(format!("{record:#}\n").as_bytes(), &version)?;
            closed += u64::from(written == Written::Done);
        }
    }
    Ok(closed)
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
