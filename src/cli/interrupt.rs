//! Ctrl-C: the run record says so, and the process ends. Everything published appears by rename, so nothing is half there.

use std::sync::{Arc, OnceLock};

use crate::error::{Error, ErrorKind, Result};
use crate::lake::runs::RunRecord;

static RECORD: OnceLock<Arc<RunRecord>> = OnceLock::new();

/// 128 + SIGINT, as shells expect.
const INTERRUPTED: i32 = 130;

/// From now on an interrupt closes this record.
pub(super) fn watch(record: &Arc<RunRecord>) -> Result<()> {
    if RECORD.set(Arc::clone(record)).is_err() {
        return Err(Error::new(ErrorKind::Check, "two runs in one process"));
    }
    ctrlc::set_handler(|| {
        if let Some(record) = RECORD.get() {
            // If this fails the lock still tells a later run that the process died.
            let _unwritten = record.close("interrupted");
        }
        std::process::exit(INTERRUPTED);
    })
    .map_err(|e| Error::new(ErrorKind::Io, format!("cannot watch for interrupts: {e}")).caused_by(e))
}
