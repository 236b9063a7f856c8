//! Buffers of file content that are used again: fresh memory is cleared by the system page by page, which for a large file costs
//! as much as reading it.

use std::io::{self, Read};
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// Buffers given back; more than the segments at work need are let go.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<Vec<Vec<u8>>>);

const KEPT: usize = 4;

/// Bytes of a file; the memory goes back to the pool when it is dropped, on whatever thread.
#[derive(Debug)]
pub(super) struct Buffer {
    /// Longer than what is filled: memory once written is not cleared again.
    bytes: Vec<u8>,
    filled: usize,
    pool: Arc<Pool>,
}

impl Buffer {
    /// An empty buffer.
    pub(super) fn new(pool: &Arc<Pool>) -> Self {
        let spare = pool.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Self { bytes: spare.unwrap_or_default(), filled: 0, pool: Arc::clone(pool) }
    }

    pub(super) fn extend_from_slice(&mut self, more: &[u8]) {
        self.require(more.len());
        self.bytes[self.filled..self.filled + more.len()].copy_from_slice(more);
        self.filled += more.len();
    }

    /// Reads up to `most` bytes, fewer only at the end; gives how many.
    pub(super) fn read_from(&mut self, reader: &mut impl Read, most: usize) -> io::Result<usize> {
        self.require(most);
        let start = self.filled;
        while self.filled < start + most {
            match reader.read(&mut self.bytes[self.filled..start + most]) {
                Ok(0) => break,
                Ok(count) => self.filled += count,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(self.filled - start)
    }

    /// Cuts it at `at`; gives what stood behind.
    pub(super) fn split_off(&mut self, at: usize) -> Vec<u8> {
        let rest = self[at..].to_vec();
        self.filled = at;
        rest
    }

    /// Drops bytes at the beginning.
    pub(super) fn drop_front(&mut self, count: usize) {
        self.bytes.copy_within(count..self.filled, 0);
        self.filled -= count;
    }

    /// Makes room for so many bytes more.
    pub(super) fn require(&mut self, more: usize) {
        if self.bytes.len() < self.filled + more {
            self.bytes.resize(self.filled + more, 0);
        }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let mut spare = self.pool.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < KEPT {
            spare.push(std::mem::take(&mut self.bytes));
        }
    }
}
