//! What an ingest is asked to do, and what it did.

use std::collections::BTreeMap;

use serde::Serialize;

use super::session::EngineOptions;
use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::{Notes, Provenance, Reader, SourceOptions, Taken};
use crate::source::Expanded;

/// What a bad record does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// The first one ends the ingest; nothing is published.
    Fail,
    /// It is kept with its reason and counted.
    Reject,
}

/// What to ingest.
pub struct IngestRequest<'a> {
    /// Files the schemas and rubrics come from.
    pub assets: &'a Assets,
    /// The dataset's reader.
    pub reader: &'a dyn Reader,
    /// The inputs.
    pub inputs: Expanded,
    /// What is said about them.
    pub options: SourceOptions,
    /// How their images and replies were made.
    pub provenance: Option<Provenance>,
    /// What a bad record does.
    pub on_error: OnError,
    /// Whether these replies replace older ones about the same image.
    pub supersede: bool,
    /// Longest line.
    pub max_line: usize,
}

/// How the work is done, which never shows in what is published.
pub struct Control<'a> {
    /// Threads, memory.
    pub engine: EngineOptions,
    /// Told of bytes read of all bytes, and of records.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// How far an ingest is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Bytes of all files.
    pub total: u64,
    /// Bytes read.
    pub read: u64,
    /// Records read.
    pub records: u64,
}

/// What an ingest did.
#[derive(Debug, Default, Serialize)]
pub struct IngestSummary {
    /// URIs of sources that are new in the lake.
    pub added: Vec<String>,
    /// URIs whose content had changed.
    pub replaced: Vec<String>,
    /// URIs whose content was there already.
    pub unchanged: Vec<String>,
    /// Keys of all sources given, new or not.
    pub keys: Vec<String>,
    /// Inputs that could not be read, with the reason.
    pub unreadable: Vec<(String, String)>,
    /// Records read from new sources.
    pub records: u64,
    /// Of those, rejected.
    pub rejected: u64,
    /// The first rejects.
    pub first_rejects: Vec<String>,
    /// Rows written by table.
    pub rows: BTreeMap<String, u64>,
    /// What the reader met.
    pub notes: Notes,
    /// Replies set aside in the whole dataset, by reason.
    pub set_aside: Notes,
}

impl IngestRequest<'_> {
    /// What was said of one model's file must have met one: a setting that changes nothing is a mistake.
    pub(super) fn refuse_unused(&self, given: &[Given]) -> Result<()> {
        let unused = |option: &str, about: &str| {
            Err(Error::new(ErrorKind::Usage, format!("{option} is not used: none of the inputs is {about}")))
        };
        if !self.options.model.is_empty() && !given.iter().any(|given| !given.taken.options.model.is_empty()) {
            return unused("--model", "a judged file of one model");
        }
        if self.provenance.is_some() && !given.iter().any(|given| given.taken.provenance) {
            return unused("--provenance", "a file of replies");
        }
        Ok(())
    }
}

/// A file that was given, the key of its content, and what of the request is about it.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) uri: String,
    pub(super) key: String,
    pub(super) taken: Taken,
}
