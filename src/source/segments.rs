//! A stream is cut into segments of whole lines: the unit of parallel work and of a Parquet part.
//!
//! Cuts depend on the content alone (the first line end at or after the target size), never on how much a read returned,
//! so that the same file always gives the same parts.

use std::io::Read;
use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use crate::python::json::Parser;

const READ: usize = 1 << 20;
/// A file that is one JSON array is held whole; larger ones must be JSON lines.
const ARRAY_LIMIT: usize = 128 << 20;

/// Some whole lines of a file.
#[derive(Debug)]
pub struct Segment {
    /// Place among the segments of its file, from 0.
    pub ordinal: u32,
    bytes: Vec<u8>,
    first_line: u64,
    /// Elements of a JSON array; empty for JSON lines.
    elements: Vec<Range<usize>>,
}

/// One record's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Physical line in the file, or element of the array that the file is; from 1.
    pub number: u64,
    /// The text, without line end.
    pub bytes: &'a [u8],
}

impl Segment {
    /// The text it was cut from.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What a record's number counts: `line`, or `element` in a file that is one JSON array.
    pub fn numbered_by(&self) -> &'static str {
        if self.elements.is_empty() { "line" } else { "element" }
    }

    /// The lines that are not blank, or the elements of an array.
    pub fn lines(&self) -> Vec<Line<'_>> {
        if !self.elements.is_empty() {
            let line = |(number, range): (u64, &Range<usize>)| Line { number, bytes: &self.bytes[range.clone()] };
            return (1..).zip(&self.elements).map(line).collect();
        }
        let mut lines = Vec::new();
        let mut start = 0;
        let mut number = self.first_line;
        while start < self.bytes.len() {
            let end = memchr::memchr(b'\n', &self.bytes[start..]).map_or(self.bytes.len(), |at| start + at);
            let line = &self.bytes[start..end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !line.iter().all(u8::is_ascii_whitespace) {
                lines.push(Line { number, bytes: line });
            }
            start = end + 1;
            number += 1;
        }
        lines
    }
}

/// Iterator over the segments of a stream.
pub struct Segments<R> {
    reader: R,
    uri: String,
    target: usize,
    max_line: usize,
    rest: Vec<u8>,
    ordinal: u32,
    line: u64,
    ended: bool,
}

impl<R: Read> Segments<R> {
    /// Cuts `reader` (decompressed) into segments of about `target` bytes; a longer line than `max_line` is an error.
    pub fn new(reader: R, uri: &str, target: usize, max_line: usize) -> Self {
        Self { reader, uri: uri.into(), target, max_line, rest: Vec::new(), ordinal: 0, line: 1, ended: false }
    }

    fn read_more(&mut self, buffer: &mut Vec<u8>) -> Result<()> {
        let count = self.reader.by_ref().take(READ as u64).read_to_end(buffer).map_err(|e| {
            Error::new(ErrorKind::Input, format!("cannot read on: {e}"))
                .with("file", &self.uri)
                .with("line", self.line + memchr::memchr_iter(b'\n', buffer).count() as u64)
                .hint("the file is damaged or cut short; fetch it again")
                .caused_by(e)
        })?;
        self.ended = count == 0;
        Ok(())
    }

    /// The next segment, `None` at the end.
    #[expect(
        clippy::should_implement_trait,
        reason = "the first error ends the walk; an Iterator of results invites going on"
    )]
    pub fn next(&mut self) -> Result<Option<Segment>> {
        let mut bytes = std::mem::take(&mut self.rest);
        bytes.reserve(self.target + 2 * READ);
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
                bytes.drain(..3);
                return self.first(bytes, cut.saturating_sub(3));
            }
            return self.first(bytes, cut);
        }
        self.emit(bytes, cut)
    }

    /// The first segment decides whether the file is one JSON array.
    fn first(&mut self, mut bytes: Vec<u8>, cut: usize) -> Result<Option<Segment>> {
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
                Ok(Some(Segment { ordinal: 0, bytes, first_line: 1, elements }))
            }
            None if !self.ended => Err(Error::new(ErrorKind::Input, "a JSON array too large to be held whole")
                .with("file", &self.uri)
                .hint("convert it to one object a line: jq -c '.[]'")),
            None => self.emit(bytes, cut),
        }
    }

    fn emit(&mut self, mut bytes: Vec<u8>, cut: usize) -> Result<Option<Segment>> {
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
        let segment = Segment { ordinal: self.ordinal, first_line, elements: Vec::new(), bytes };
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
