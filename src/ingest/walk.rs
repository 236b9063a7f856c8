//! Going over the records of a segment: each becomes a value, or a reject with its reason.

use super::members::{self, Members};
use super::{Form, Notes, Reject, SegmentTables};
use crate::source::{Record, Segment};

/// Bytes of a rejected record that are kept.
const REJECT_TEXT: usize = 64 << 10;

/// What the records of a segment became.
pub(super) struct Walked<T> {
    /// Line and value of each record that could be read.
    pub records: Vec<(u64, T)>,
    rejects: Vec<Reject>,
    count: u64,
    /// What else was met.
    pub notes: Notes,
}

/// Reads each record.
pub(super) fn walk<T>(
    segment: &Segment,
    mut read: impl FnMut(Record<'_>, &mut Notes) -> Result<T, String>,
) -> Walked<T> {
    let mut walked = Walked { records: Vec::new(), rejects: Vec::new(), count: 0, notes: Notes::default() };
    for record in segment.records() {
        walked.count += 1;
        match read(record, &mut walked.notes) {
            Ok(value) => walked.records.push((record.number, value)),
            Err(reason) => {
                walked.rejects.push(Reject { line: record.number, reason, text: excerpt(record) });
            }
        }
    }
    walked
}

impl<T> Walked<T> {
    /// The segment's tables, made of the records, with what else was met.
    pub(super) fn finish<E>(
        self,
        tables: impl FnOnce(Vec<(u64, T)>) -> Result<SegmentTables, E>,
    ) -> Result<SegmentTables, E> {
        let Self { records, rejects, count, notes } = self;
        Ok(SegmentTables { rejects, records: count, notes, ..tables(records)? })
    }
}

/// The text of a record, as a reject keeps it.
pub(super) fn excerpt(record: Record<'_>) -> String {
    record.excerpt(REJECT_TEXT)
}

/// The form of a segment by its records: the first that is no metadata tells, else there is metadata or nothing.
pub(super) fn form_by(segment: &Segment, form_of: impl Fn(&Members<'_>) -> Option<Form>) -> Option<Form> {
    // What is wrong with a record is told where it is read.
    let mut notes = Notes::default();
    let mut found = None;
    for record in segment.records() {
        let Ok(members) = members::members(record.content, &mut notes) else { continue };
        match form_of(&members) {
            Some(Form::Metadata) => found = Some(Form::Metadata),
            Some(form) => return Some(form),
            None => {}
        }
    }
    found
}
