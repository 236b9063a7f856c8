//! Opening a file: digest of its bytes as stored, decompression by its first bytes.

use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Location;
use crate::error::{Error, ErrorKind, Result};

const BUFFER: usize = 1 << 20;

/// An open file.
pub struct Opened {
    /// The decompressed bytes.
    pub reader: Box<dyn Read + Send>,
    /// Bytes of the stored file read so far.
    pub position: Arc<AtomicU64>,
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]])
        .map(char::from)
        .collect()
}

struct CountingReader {
    file: Box<dyn Read + Send>,
    position: Arc<AtomicU64>,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.position.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Opens a file; `.gz` (several members too) and `.zst` are recognised by content, not by name.
pub fn open(location: &Location) -> Result<Opened> {
    let file = location.file.stream().map_err(Error::of_input)?;
    let position = Arc::new(AtomicU64::new(0));
    let raw = CountingReader { file, position: Arc::clone(&position) };
    Ok(Opened { reader: decompressed(raw, location)?, position })
}

/// The bytes as they were before they were compressed.
fn decompressed(mut raw: impl Read + Send + 'static, location: &Location) -> Result<Box<dyn Read + Send>> {
    let unreadable = |e: io::Error| Error::reading(&location.file, e).of_input();
    let mut magic = Vec::with_capacity(4);
    raw.by_ref().take(4).read_to_end(&mut magic).map_err(unreadable)?;
    let is_gzip = magic.starts_with(&[0x1f, 0x8b]);
    let is_zstd = magic == [0x28, 0xb5, 0x2f, 0xfd];
    if magic == *b"PAR1" || magic.starts_with(b"PK\x03\x04") {
        return Err(Error::new(ErrorKind::Input, "a Parquet or ZIP file where JSON lines are due")
            .with("file", &location.uri)
            .hint("give the judge's .jsonl file, plain or compressed with gzip or zstd"));
    }
    let bytes = Cursor::new(magic).chain(raw);
    if is_gzip {
        return Ok(Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(BUFFER, bytes))));
    }
    if is_zstd {
        let decoder = zstd::Decoder::with_buffer(BufReader::with_capacity(BUFFER, bytes));
        return Ok(Box::new(decoder.map_err(unreadable)?));
    }
    Ok(Box::new(bytes))
}
