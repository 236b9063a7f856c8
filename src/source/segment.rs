//! A segment: some whole records of a file, read by a pure function on any thread.

use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use csv::ByteRecord;

use super::Location;
use super::buffer::Buffer;
use super::lines::LineSegments;
use super::rows::RowSegments;
use crate::error::Result;

/// Some whole records of a file.
#[derive(Debug)]
pub struct Segment {
    /// Place among the segments of its file, from 0.
    pub ordinal: u32,
    pub(super) body: Body,
}

#[derive(Debug)]
pub(super) enum Body {
    /// JSON lines.
    Lines { bytes: Buffer, first_line: u64 },
    /// The elements of a JSON array.
    Elements { bytes: Buffer, elements: Vec<Range<usize>> },
    /// Rows of a table of comma- or tab-separated values, each with the line it starts on.
    Rows { header: Arc<Vec<String>>, rows: Vec<(u64, ByteRecord)> },
}

/// One record.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Physical line in the file on which it starts, or element of the array that the file is; from 1.
    pub number: u64,
    /// What it holds.
    pub content: Content<'a>,
}

/// What a record holds.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// JSON text, without line end.
    Json(&'a [u8]),
    /// A row under a header.
    Row(Row<'a>),
}

/// A row of a table: names and fields, not necessarily as many of the one as of the other.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    header: &'a [String],
    fields: &'a ByteRecord,
}

impl<'a> Row<'a> {
    /// Whether a column has no name.
    pub fn has_unnamed(self) -> bool {
        self.header.iter().any(String::is_empty)
    }

    /// Name and field of each column that has a name; the error says what is wrong with the row.
    pub fn named(self) -> Result<Vec<(&'a str, &'a str)>, String> {
        if self.fields.len() != self.header.len() {
            let (found, due) = (self.fields.len(), self.header.len());
            return Err(format!("{found} fields where the header has {due}"));
        }
        let named = self.header.iter().zip(self.fields).filter(|(name, _)| !name.is_empty());
        named
            .map(|(name, field)| {
                let field = std::str::from_utf8(field)
                    .map_err(|e| format!("not UTF-8 at byte {} of column `{name}`", e.valid_up_to() + 1))?;
                Ok((name.as_str(), field))
            })
            .collect()
    }
}

impl Record<'_> {
    /// Its text for a reject, cut at so many bytes; bytes that are not UTF-8 are replaced.
    pub fn excerpt(&self, most: usize) -> String {
        let cut = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(most)]).into_owned();
        match self.content {
            Content::Json(bytes) => cut(bytes),
            Content::Row(row) => {
                let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
                match writer.write_byte_record(row.fields).ok().and_then(|()| writer.into_inner().ok()) {
                    Some(bytes) => cut(bytes.strip_suffix(b"\n").unwrap_or(&bytes)),
                    None => cut(row.fields.as_slice()),
                }
            }
        }
    }
}

impl Segment {
    /// Size and checksum of its text.
    pub fn checksum(&self) -> (u64, u32) {
        match &self.body {
            Body::Lines { bytes, .. } | Body::Elements { bytes, .. } => (bytes.len() as u64, crc32fast::hash(bytes)),
            Body::Rows { rows, .. } => {
                let mut hasher = crc32fast::Hasher::new();
                let mut size = 0;
                for (line, row) in rows {
                    hasher.update(&line.to_le_bytes());
                    for field in row {
                        hasher.update(field);
                        hasher.update(&(field.len() as u64).to_le_bytes());
                        size += field.len() as u64;
                    }
                }
                (size, hasher.finalize())
            }
        }
    }

    /// What a record's number counts: `line`, or `element` in a file that is one JSON array.
    pub fn numbered_by(&self) -> &'static str {
        if matches!(self.body, Body::Elements { .. }) { "element" } else { "line" }
    }

    /// Its records: lines that are not blank, elements of an array, or rows.
    pub fn records(&self) -> Vec<Record<'_>> {
        match &self.body {
            Body::Lines { bytes, first_line } => json_lines(bytes, *first_line),
            Body::Elements { bytes, elements } => {
                let record = |(number, range): (u64, &Range<usize>)| Record {
                    number,
                    content: Content::Json(&bytes[range.clone()]),
                };
                (1..).zip(elements).map(record).collect()
            }
            Body::Rows { header, rows } => {
                let header = header.as_slice();
                rows.iter()
                    .map(|(line, fields)| Record { number: *line, content: Content::Row(Row { header, fields }) })
                    .collect()
            }
        }
    }
}

fn json_lines(bytes: &[u8], first_line: u64) -> Vec<Record<'_>> {
    let mut lines = Vec::new();
    let mut start = 0;
    let mut number = first_line;
    while start < bytes.len() {
        let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
        let line = &bytes[start..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !line.iter().all(u8::is_ascii_whitespace) {
            lines.push(Record { number, content: Content::Json(line) });
        }
        start = end + 1;
        number += 1;
    }
    lines
}

/// The segments of a stream, one after another.
pub struct Segments<R>(Walk<R>);

enum Walk<R> {
    Lines(LineSegments<R>),
    Rows(RowSegments<R>),
}

impl<R: Read> Segments<R> {
    /// Cuts `reader`, the decompressed content of a file, into segments of about `target` bytes; a longer record than
    /// `longest` is an error.
    pub fn new(reader: R, location: &Location, target: usize, longest: usize) -> Self {
        Self(match location.delimiter() {
            Some(delimiter) => Walk::Rows(RowSegments::new(reader, &location.uri, delimiter, target, longest)),
            None => Walk::Lines(LineSegments::new(reader, &location.uri, target, longest)),
        })
    }

    /// The next segment, `None` at the end.
    #[expect(
        clippy::should_implement_trait,
        reason = "the first error ends the walk; an Iterator of results invites going on"
    )]
    pub fn next(&mut self) -> Result<Option<Segment>> {
        match &mut self.0 {
            Walk::Lines(lines) => lines.next(),
            Walk::Rows(rows) => rows.next(),
        }
    }
}
