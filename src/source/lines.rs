//! A stream of JSON is cut into segments of whole lines: the unit of parallel work and of a Parquet part.
//!
//! Cuts depend on the content alone (the first line end at or after the target size), never on how much a read returned,
//! so that the same file always gives the same parts.

use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use super::buffer::{Buffer, Pool};
use super::segment::{Body, Segment};
use crate::error::{Error, ErrorKind, Result};
use crate::python::json::Parser;

const READ: usize = 1 << 20;
/// A file that is one JSON array is held whole; larger ones must be JSON lines.
const ARRAY_LIMIT: usize = 128 << 20;

/// The segments of a stream of JSON lines, or of one JSON array.
pub(super) struct LineSegments<R> {
    reader: R,
    uri: String,
    target: usize,
    max_line: usize,
    pool: Arc<Pool>,
    rest: Vec<u8>,
    ordinal: u32,
    line: u64,
    ended: bool,
}

impl<R: Read> LineSegments<R> {
    pub(super) fn new(reader: R, uri: &str, target: usize, max_line: usize) -> Self {
        Self {
            reader,
            uri: uri.into(),
            target,
            max_line,
            pool: Arc::default(),
            rest: Vec::new(),
            ordinal: 0,
            line: 1,
            ended: false,
        }
    }

    fn read_more(&mut self, buffer: &mut Buffer) -> Result<()> {
        let count = buffer.read_from(&mut self.reader, READ).map_err(|e| {
            Error::new(ErrorKind::Input, format!("cannot read on: {e}"))
                .with("file", &self.uri)
                .with("line", self.line + memchr::memchr_iter(b'\n', buffer).count() as u64)
                .hint("the file is damaged or cut short; fetch it again")
                .caused_by(e)
        })?;
        self.ended = count == 0;
        Ok(())
    }

    pub(super) fn next(&mut self) -> Result<Option<Segment>> {
        let mut bytes = Buffer::new(&self.pool);
        bytes.require(self.target + 2 * READ);
        bytes.extend_from_slice(&std::mem::take(&mut self.rest));
        let mut searched = self.target.saturating_sub(1);
        let cut = loop {
            if bytes.len() > searched {
                if let Some(at) = memchr::memchr(b'\n', &bytes[searched..]) {
                    break searched + at + 1;
                }
                searched = bytes.len();
            }
            // A last line without end, and one too long to be held, are checked when the segment is emitted.
            if self.ended || bytes.len() > self.target.saturating_add(self.max_line).saturating_add(READ) {
                break bytes.len();
            }
            self.read_more(&mut bytes)?;
        };
        if self.ordinal == 0 {
            if bytes.starts_with(b"\xef\xbb\xbf") {
                bytes.drop_front(3);
                return self.first(bytes, cut.saturating_sub(3));
            }
            return self.first(bytes, cut);
        }
        self.emit(bytes, cut)
    }

    /// The first segment decides whether the file is one JSON array.
    fn first(&mut self, mut bytes: Buffer, cut: usize) -> Result<Option<Segment>> {
        if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'[') {
            return self.emit(bytes, cut);
        }
        while !self.ended && bytes.len() <= ARRAY_LIMIT {
            self.read_more(&mut bytes)?;
        }
        let elements = if self.ended { std::str::from_utf8(&bytes).ok().and_then(array_elements) } else { None };
        match elements {
            Some(elements) if elements.is_empty() => Ok(None),
            Some(elements) => {
                self.rest = Vec::new();
                Ok(Some(Segment { ordinal: 0, body: Body::Elements { bytes, elements } }))
            }
            None if !self.ended => Err(Error::new(ErrorKind::Input, "a JSON array too large to be held whole")
                .with("file", &self.uri)
                .hint("convert it to one object a line: jq -c '.[]'")),
            None => self.emit(bytes, cut),
        }
    }

    fn emit(&mut self, mut bytes: Buffer, cut: usize) -> Result<Option<Segment>> {
        self.rest = bytes.split_off(cut);
        if bytes.is_empty() {
            return Ok(None);
        }
        let first_line = self.line;
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &bytes) {
            self.check_line_length(end - start)?;
            self.line += 1;
            start = end + 1;
        }
        self.check_line_length(bytes.len() - start)?;
        let segment = Segment { ordinal: self.ordinal, body: Body::Lines { bytes, first_line } };
        self.ordinal += 1;
        Ok(Some(segment))
    }

    fn check_line_length(&self, length: usize) -> Result<()> {
        if length <= self.max_line {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Input, format!("a line longer than {} bytes", self.max_line))
            .with("file", &self.uri)
            .with("line", self.line)
            .hint("raise --max-line if the line is meant to be that long"))
    }
}

/// The elements of a text that is one JSON array.
fn array_elements(text: &str) -> Option<Vec<Range<usize>>> {
    let mut parser = Parser::new(text, 0);
    let mut elements = Vec::new();
    parser
        .items(|parser| {
            parser.peek();
            let start = parser.position();
            parser.skip()?;
            elements.push(start..parser.position());
            Ok(())
        })
        .ok()?;
    parser.end().ok()?;
    Some(elements)
}
