//! A file by range, for the Parquet reader, which asks for a page's header and then for the page: of an object in a bucket whole blocks are
//! fetched, and the last few of them kept.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use object_store::ObjectStoreExt;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::{Object, explain, wait};
use crate::error::{Error, Result};

/// Bytes a block: most tables of results are one.
const BLOCK: u64 = 8 << 20;
/// Blocks that are kept.
const KEPT: usize = 4;

/// Ranges of a file.
#[derive(Debug)]
pub struct Chunks {
    size: u64,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Disk(std::fs::File),
    Object(Arc<Blocks>),
}

#[derive(Debug)]
struct Blocks {
    object: Object,
    size: u64,
    kept: Mutex<VecDeque<(u64, Bytes)>>,
    failed: Mutex<Option<Error>>,
}

/// What a reading failed with: the Parquet reader hands errors on as texts.
#[derive(Debug)]
pub struct Failure(Option<Arc<Blocks>>);

impl Failure {
    /// The error, once.
    pub fn take(&self) -> Option<Error> {
        self.0.as_ref()?.failed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Chunks {
    /// Where to look when a reader of these fails.
    pub fn failure(&self) -> Failure {
        match &self.place {
            Place::Disk(_) => Failure(None),
            Place::Object(blocks) => Failure(Some(Arc::clone(blocks))),
        }
    }

    pub(super) fn of_disk(file: std::fs::File, size: u64) -> Self {
        Self { size, place: Place::Disk(file) }
    }

    pub(super) fn of_object(object: Object, size: u64) -> Self {
        Self {
            size,
            place: Place::Object(Arc::new(Blocks { object, size, kept: Mutex::default(), failed: Mutex::default() })),
        }
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.size
    }
}

impl ChunkReader for Chunks {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        match &self.place {
            Place::Disk(file) => Ok(Box::new(file.get_read(start)?)),
            Place::Object(blocks) => Ok(Box::new(From { blocks: Arc::clone(blocks), at: start })),
        }
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        match &self.place {
            Place::Disk(file) => file.get_bytes(start, length),
            Place::Object(blocks) => {
                let at = |start, length| {
                    blocks.at(start, length).map_err(|e| ParquetError::External(blocks.noted(e).into()))
                };
                let mut bytes = at(start, length)?;
                if bytes.len() == length {
                    return Ok(bytes);
                }
                let mut whole = BytesMut::with_capacity(length);
                while whole.len() < length && !bytes.is_empty() {
                    whole.extend_from_slice(&bytes);
                    bytes = at(start + whole.len() as u64, length - whole.len())?;
                }
                if whole.len() < length {
                    return Err(ParquetError::EOF(format!("{} bytes at {start} where {length} are due", whole.len())));
                }
                Ok(whole.freeze())
            }
        }
    }
}

impl Blocks {
    /// Keeps an error for who asks afterwards; gives its words.
    fn noted(&self, error: Error) -> String {
        let words = error.message().to_owned();
        *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        words
    }

    /// Up to `most` bytes from `start` on, fewer at the end of a block, none at the end of the file.
    fn at(&self, start: u64, most: usize) -> Result<Bytes> {
        if start >= self.size {
            return Ok(Bytes::new());
        }
        let number = start / BLOCK;
        let block = self.block(number)?;
        let from = usize::try_from(start - number * BLOCK).unwrap_or(usize::MAX).min(block.len());
        Ok(block.slice(from..block.len().min(from.saturating_add(most))))
    }

    fn block(&self, number: u64) -> Result<Bytes> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, block)) = kept.iter().find(|(known, _)| *known == number) {
            return Ok(block.clone());
        }
        let range = number * BLOCK..((number + 1) * BLOCK).min(self.size);
        let (store, key, place) = (self.object.bucket.store(), self.object.key.clone(), self.object.to_string());
        let block = wait(async move { store.get_range(&key, range).await.map_err(|e| explain(place, "read", e)) })?;
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((number, block.clone()));
        Ok(block)
    }
}

/// A reader from a place on.
struct From {
    blocks: Arc<Blocks>,
    at: u64,
}

impl Read for From {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.blocks.at(self.at, buffer.len());
        let bytes = bytes.map_err(|e| std::io::Error::other(self.blocks.noted(e)))?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }
}
