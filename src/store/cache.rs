//! What a query engine reads of a bucket, read once: a part of a lake and a table of a snapshot never change under their names, so sizes and
//! ranges may be remembered. A pipeline asks for the same columns in one step after another.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetRange, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use tokio::sync::OnceCell;

/// Bytes that are remembered.
const MOST: u64 = 256 << 20;
/// A range of more bytes is not remembered: those are texts, which are read once, and memory that is let go is used again.
const LONGEST: usize = 1 << 20;
/// An object of at most so many bytes is fetched whole: two requests for its footer and columns would take longer than the rest of its bytes.
const WHOLE: u64 = 256 << 10;

/// A store whose Parquet files are read once.
pub(super) struct Cache {
    inner: Arc<dyn ObjectStore>,
    known: Mutex<HashMap<Path, ObjectMeta>>,
    kept: Mutex<Kept>,
    whole: Mutex<HashMap<Path, Arc<OnceCell<Bytes>>>>,
    failed: Mutex<Option<(Path, Error)>>,
}

#[derive(Default)]
struct Kept {
    ranges: HashMap<(Path, Range<u64>), Bytes>,
    /// Objects that are kept whole.
    whole: HashSet<Path>,
    /// Bytes of both.
    bytes: u64,
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.inner)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cache {
    pub(super) fn new(inner: Arc<dyn ObjectStore>) -> Self {
        Self {
            inner,
            known: Mutex::default(),
            kept: Mutex::default(),
            whole: Mutex::default(),
            failed: Mutex::default(),
        }
    }

    /// What a reading failed with, once: engines hand errors on as texts.
    pub(super) fn failure(&self) -> Option<(Path, Error)> {
        lock(&self.failed).take()
    }

    /// The store's answer; of a failure a copy of its words is kept.
    fn noted<T>(&self, location: &Path, answer: Result<T>) -> Result<T> {
        answer.map_err(|e| {
            let words = e.to_string();
            *lock(&self.failed) = Some((location.clone(), e));
            Error::Generic { store: "bucket", source: words.into() }
        })
    }

    /// Remembers what a listing told.
    pub(super) fn learn(&self, listed: &[ObjectMeta]) {
        let parquet = listed.iter().filter(|meta| never_changes(&meta.location));
        lock(&self.known).extend(parquet.map(|meta| (meta.location.clone(), meta.clone())));
    }

    /// The size that a listing told.
    pub(super) fn size(&self, location: &Path) -> Option<u64> {
        lock(&self.known).get(location).map(|meta| meta.size)
    }

    async fn meta(&self, location: &Path) -> Result<ObjectMeta> {
        let known = lock(&self.known).get(location).cloned();
        if let Some(meta) = known {
            return Ok(meta);
        }
        let meta = self.inner.head(location).await?;
        self.learn(std::slice::from_ref(&meta));
        Ok(meta)
    }

    fn kept(&self, location: &Path, range: &Range<u64>) -> Option<Bytes> {
        lock(&self.kept).ranges.get(&(location.clone(), range.clone())).cloned()
    }

    fn keep(&self, location: &Path, range: Range<u64>, bytes: &Bytes) {
        if bytes.len() > LONGEST {
            return;
        }
        let mut kept = lock(&self.kept);
        // A copy: what was fetched may be a piece of something much larger, all of which it would hold on to.
        let size = bytes.len() as u64;
        if kept.bytes + size <= MOST
            && kept.ranges.insert((location.clone(), range), Bytes::copy_from_slice(bytes)).is_none()
        {
            kept.bytes += size;
        }
    }

    /// All of a small object, asked for once however many want it at a time.
    async fn whole(&self, location: &Path) -> Result<Bytes> {
        let cell = Arc::clone(lock(&self.whole).entry(location.clone()).or_default());
        let fetched = cell.get_or_try_init(|| async { self.inner.get(location).await?.bytes().await });
        let bytes = fetched.await?.clone();
        let size = bytes.len() as u64;
        let mut kept = lock(&self.kept);
        if !kept.whole.contains(location) {
            if kept.bytes + size <= MOST {
                kept.bytes += size;
                kept.whole.insert(location.clone());
            } else {
                lock(&self.whole).remove(location);
            }
        }
        Ok(bytes)
    }

    async fn ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let size = self.meta(location).await?.size;
        if size <= WHOLE && ranges.iter().all(|range| range.start <= range.end && range.end <= size) {
            let whole = self.whole(location).await?;
            // Of another size than it was listed with: the store says what is wrong.
            if whole.len() as u64 == size {
                let slice = |range: &Range<u64>| whole.slice(range.start as usize..range.end as usize);
                return Ok(ranges.iter().map(slice).collect());
            }
        }
        let missing: Vec<Range<u64>> =
            ranges.iter().filter(|range| self.kept(location, range).is_none()).cloned().collect();
        let mut fetched = HashMap::new();
        if !missing.is_empty() {
            for (range, bytes) in missing.iter().zip(self.inner.get_ranges(location, &missing).await?) {
                self.keep(location, range.clone(), &bytes);
                fetched.insert(range.clone(), bytes);
            }
        }
        let of = |range: &Range<u64>| fetched.get(range).cloned().or_else(|| self.kept(location, range));
        match ranges.iter().map(of).collect() {
            Some(found) => Ok(found),
            None => self.inner.get_ranges(location, ranges).await,
        }
    }
}

/// Parts are named by their bytes, and tables of snapshots are put once.
fn never_changes(location: &Path) -> bool {
    location.as_ref().ends_with(".parquet")
}

fn is_plain(options: &GetOptions) -> bool {
    options.if_match.is_none()
        && options.if_none_match.is_none()
        && options.if_modified_since.is_none()
        && options.if_unmodified_since.is_none()
        && options.version.is_none()
}

#[async_trait::async_trait]
impl ObjectStore for Cache {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.inner.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(location, options).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if !never_changes(location) || !is_plain(&options) || options.range.is_none() && !options.head {
            return self.inner.get_opts(location, options).await;
        }
        let meta = self.meta(location).await;
        let meta = self.noted(location, meta)?;
        let (range, bytes) = match options.range {
            Some(asked) if !options.head => {
                let range = match asked {
                    GetRange::Bounded(range) => range.start..range.end.min(meta.size),
                    GetRange::Offset(offset) => offset..meta.size,
                    GetRange::Suffix(count) => meta.size.saturating_sub(count)..meta.size,
                };
                let bytes = self.ranges(location, std::slice::from_ref(&range)).await;
                (range, self.noted(location, bytes)?)
            }
            _ => (0..meta.size, Vec::new()),
        };
        let payload = GetResultPayload::Stream(stream::iter(bytes.into_iter().map(Ok)).boxed());
        Ok(GetResult { payload, meta, range, attributes: object_store::Attributes::default() })
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let bytes = match never_changes(location) {
            true => self.ranges(location, ranges).await,
            false => self.inner.get_ranges(location, ranges).await,
        };
        self.noted(location, bytes)
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix).into_stream().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
