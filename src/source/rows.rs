//! A stream of comma- or tab-separated values is cut into segments of whole rows, by content alone as lines are.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io::{self, Read};
use std::rc::Rc;
use std::sync::Arc;

use csv::ByteRecord;

use super::segment::{Body, Segment};
use crate::error::{Error, ErrorKind, Result};

/// The segments of a stream of rows.
pub(super) struct RowSegments<R> {
    reader: csv::Reader<Bounded<R>>,
    uri: String,
    target: usize,
    longest: usize,
    feed: Rc<RefCell<Feed>>,
    header: Option<Arc<Vec<String>>>,
    ordinal: u32,
    /// Lines before the next row, in a file whose lines end in a carriage return alone: the CSV reader counts none there.
    returns: Option<u64>,
}

/// Ends a row that never ends, such as one with a quote that is not closed, before it fills the memory.
struct Bounded<R> {
    inner: R,
    feed: Rc<RefCell<Feed>>,
}

/// What the CSV reader was fed.
#[derive(Debug, Default)]
struct Feed {
    /// Bytes that the row at hand may still take.
    budget: u64,
    /// The latest piece, and where in the stream it starts.
    piece: Vec<u8>,
    start: u64,
    /// The byte before it.
    before: Option<u8>,
    /// Whether the row at hand used the budget up.
    is_spent: bool,
    /// Whether the stream has ended and the end mark was given.
    has_ended: bool,
}

impl Feed {
    /// The byte at a place of the stream, if it is in the latest piece or just before it.
    fn byte(&self, at: u64) -> Option<u8> {
        match at.checked_sub(self.start) {
            Some(offset) => self.piece.get(usize::try_from(offset).ok()?).copied(),
            None => self.before.filter(|_| at + 1 == self.start),
        }
    }

    /// How many lines end from here to the next text, as far as it was read.
    fn line_ends(&self, at: u64) -> u64 {
        let bytes = (at..).map_while(|at| self.byte(at));
        bytes.take_while(|byte| matches!(byte, b'\r' | b'\n')).filter(|byte| *byte == b'\n').count() as u64
    }
}

/// Bytes that are read ahead of the row at hand.
const AHEAD: usize = 1 << 16;
/// Fed after the last byte: a row of its own, unless a quote is still open, which the CSV reader would take for closed.
const END: &[u8] = b"\n\0end of rows\0\n";
const END_FIELD: &[u8] = b"\0end of rows\0";
/// What a row and a field take in memory beside their text.
const ROW_BYTES: usize = 128;
const FIELD_BYTES: usize = 8;

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut feed = self.feed.borrow_mut();
        if feed.budget == 0 {
            feed.is_spent = true;
            return Err(io::Error::other("row too long"));
        }
        let mut count = self.inner.read(buffer)?;
        if count == 0 && !feed.has_ended {
            if buffer.len() < END.len() {
                return Err(io::Error::other("no room for the end mark"));
            }
            feed.has_ended = true;
            buffer[..END.len()].copy_from_slice(END);
            count = END.len();
        }
        feed.budget = feed.budget.saturating_sub(count as u64);
        feed.start += feed.piece.len() as u64;
        feed.before = feed.piece.last().copied().or(feed.before);
        feed.piece.clear();
        feed.piece.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

impl<R: Read> RowSegments<R> {
    pub(super) fn new(reader: R, uri: &str, delimiter: u8, target: usize, longest: usize) -> Self {
        let feed = Rc::new(RefCell::new(Feed::default()));
        let bounded = Bounded { inner: reader, feed: Rc::clone(&feed) };
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .buffer_capacity(AHEAD)
            .from_reader(bounded);
        Self { reader, uri: uri.into(), target, longest, feed, header: None, ordinal: 0, returns: None }
    }

    /// The next segment, `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Segment>> {
        let header = match &self.header {
            Some(header) => Arc::clone(header),
            None => match self.header()? {
                Some(header) => Arc::clone(self.header.insert(Arc::new(header))),
                None => return Ok(None),
            },
        };
        let mut rows = Vec::new();
        let mut size = 0;
        while size < self.target {
            let Some((line, row)) = self.row()? else { break };
            size += row.as_slice().len() + row.len() * FIELD_BYTES + ROW_BYTES;
            // A line of blanks and commas says nothing, as a blank line of JSON does.
            if row.iter().any(|field| !field.iter().all(u8::is_ascii_whitespace)) {
                rows.push((line, row));
            }
        }
        if size == 0 {
            return Ok(None);
        }
        let ordinal = self.ordinal;
        self.ordinal += 1;
        Ok(Some(Segment { ordinal, body: Body::Rows { header, rows } }))
    }

    /// The names of the columns; two of one name are an error, none is an unnamed column.
    fn header(&mut self) -> Result<Option<Vec<String>>> {
        let Some((line, row)) = self.row()? else { return Ok(None) };
        let has = |byte| memchr::memchr(byte, &self.feed.borrow().piece).is_some();
        if has(b'\r') && !has(b'\n') {
            self.returns = Some(line);
        }
        let mut known: HashSet<String> = HashSet::with_capacity(row.len());
        let mut names: Vec<String> = Vec::with_capacity(row.len());
        for field in &row {
            let name = std::str::from_utf8(field)
                .map_err(|e| {
                    self.error(line, "the header is not UTF-8".into()).hint("save the file as UTF-8").caused_by(e)
                })?
                .trim();
            if !name.is_empty() && !known.insert(name.to_owned()) {
                return Err(self.error(line, format!("two columns are named `{name}`")));
            }
            names.push(name.to_owned());
        }
        if let [only] = &names[..]
            && let Some(other) = [';', '\t', ',', '|'].into_iter().find(|other| only.contains(*other))
        {
            return Err(self
                .error(line, format!("one column whose name holds `{}`: another separator?", other.escape_default()))
                .hint("separate values by commas, or by tabs in a file that ends in .tsv"));
        }
        Ok(Some(names))
    }

    fn row(&mut self) -> Result<Option<(u64, ByteRecord)>> {
        let position = self.reader.position();
        let start = position.line() + self.feed.borrow().line_ends(position.byte());
        self.feed.borrow_mut().budget = (self.longest + AHEAD) as u64;
        let mut row = ByteRecord::new();
        match self.reader.read_byte_record(&mut row) {
            Ok(false) => Ok(None),
            Ok(true) if row.len() == 1 && row.get(0) == Some(END_FIELD) => Ok(None),
            Ok(true) if row.as_slice().ends_with(&END[1..]) => {
                let inside = memchr::memchr_iter(b'\n', row.as_slice()).count() as u64;
                let line = self.reader.position().line() - inside;
                Err(self
                    .error(line, "a quote that is opened in this row is not closed".into())
                    .hint("is the file cut short? A quote inside a quoted field is written twice"))
            }
            Ok(true) => {
                let line = match self.returns.as_mut() {
                    Some(returns) => {
                        let line = *returns + 1;
                        *returns = line + memchr::memchr_iter(b'\r', row.as_slice()).count() as u64;
                        line
                    }
                    None => self.first_line(&row),
                };
                if row.as_slice().len() > self.longest {
                    return Err(self.too_long(line));
                }
                Ok(Some((line, row)))
            }
            Err(_) if self.feed.borrow().is_spent => Err(self.too_long(start)),
            Err(e) => Err(self
                .error(start, format!("cannot read on: {e}"))
                .hint("the file is damaged or cut short; fetch it again")
                .caused_by(e)),
        }
    }

    /// The line on which the row that was just read starts. The reader's own count is of where it looked for the row, before
    /// blank lines and the second half of a CR LF.
    fn first_line(&self, row: &ByteRecord) -> u64 {
        let end = self.reader.position();
        let last = end.byte().checked_sub(1).and_then(|at| self.feed.borrow().byte(at));
        let inside = memchr::memchr_iter(b'\n', row.as_slice()).count() as u64;
        end.line() - inside - u64::from(last == Some(b'\n'))
    }

    fn too_long(&self, line: u64) -> Error {
        self.error(line, format!("a row longer than {} bytes", self.longest))
            .hint("is a quote not closed? Raise --max-line if the row is meant to be that long")
    }

    fn error(&self, line: u64, message: String) -> Error {
        Error::new(ErrorKind::Input, message).with("file", &self.uri).with("line", line)
    }
}
