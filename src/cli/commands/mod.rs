//! One file a command: clap's `Args` and `execute`.

pub(super) mod agree;
mod board;
pub(super) mod check;
pub(super) mod compare;
pub(super) mod datasets;
pub(super) mod export;
pub(super) mod fetch;
mod gates;
pub(super) mod ingest;
pub(super) mod lake;
pub(super) mod publish;
pub(super) mod run;
mod samples;
pub(super) mod schema;
pub(super) mod score;
mod second_opinion;
pub(super) mod show;
pub(super) mod snapshot;
mod snapshot_diff;
mod snapshot_show;
pub(super) mod sql;
pub(super) mod stair;
mod subset;
pub(super) mod synth;
mod target;
mod text_rows;
pub(super) mod verify;

use std::sync::Arc;

use serde_json::json;

use super::output::Outcome;
use super::{Session, interrupt};
use crate::error::Result;
use crate::lake::Lake;
use crate::lake::runs::RunRecord;

/// `512`, `64MiB`, `2GB`, …
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        other => return Err(format!("unknown unit `{other}`: B, kB, MB, GB, KiB, MiB or GiB")),
    };
    let number: u64 = digits.trim().parse().map_err(|e| format!("not a size: {e}"))?;
    match number.checked_mul(unit) {
        None | Some(0) => Err("a size between 1 byte and 2^64".into()),
        Some(size) => Ok(size),
    }
}

/// A path of this machine; a URL would become a folder of that name.
pub(super) fn parse_local(text: &str) -> Result<std::path::PathBuf, String> {
    match text.contains("://") || crate::store::is_half_url(text) {
        true => Err("a path of this machine, not a URL; `scorelake publish` and `lake copy` write to buckets".into()),
        false => Ok(text.into()),
    }
}

/// `90s`, `30m`, `12h`, `7d`.
pub(super) fn parse_age(text: &str) -> Result<std::time::Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        "" => return Err(format!("no unit: {digits}s, {digits}m, {digits}h or {digits}d")),
        other => return Err(format!("unknown unit `{other}`: s, m, h or d")),
    };
    let number: u64 = digits.parse().map_err(|e| format!("not an age: {e}"))?;
    number.checked_mul(unit).map(std::time::Duration::from_secs).ok_or_else(|| "too long".into())
}

/// A split of a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::cli) enum Split {
    /// What models may be trained on.
    Train,
    /// What they are tested on.
    Test,
}

impl Split {
    fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
        }
    }
}

/// A number from 0 to 1.
pub(in crate::cli) fn parse_fraction(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(value),
        Ok(_) => Err("a number from 0 to 1".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs work under a record in the lake that says how it ended, whatever happens.
fn recorded(session: &Session, lake: &Lake, work: impl FnOnce(&RunRecord) -> Result<Outcome>) -> Result<Outcome> {
    let record = Arc::new(RunRecord::start(lake, &session.command)?);
    interrupt::watch(&record)?;
    let outcome = work(&record);
    match &outcome {
        Ok(outcome) => record.close(outcome.name())?,
        Err(error) => {
            // The error itself matters more than a record that cannot be written, as on a full disk.
            let written = record.set("error", error.to_json()).and_then(|()| record.close("failed"));
            if let Err(unwritten) = written {
                session.printer.warn(&format!("the run record is incomplete: {}", unwritten.message()));
            }
        }
    }
    outcome
}

/// A summary for the run record.
fn to_json(value: &impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_else(|error| json!({ "not recorded": error.to_string() }))
}
