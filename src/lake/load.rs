//! Ingest: sources become finished parts in staging, segment by segment in parallel, and are then published at once.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use sha2::{Digest, Sha256};

use super::Lake;
use super::manifest::{Manifest, SourceEntry};
use super::permits::Permits;
use super::publish::{self, Published};
use super::request::{ClassifiedFile, Control, Given, IngestRequest, IngestSummary, OnError, Progress, stamp};
use super::segment::{Content, Place, SegmentRecord, segment_bytes};
use super::staging::Staging;
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::{Ids, Notes, Reject, SegmentTables, SourceOptions};
use crate::schema::TableSchema;
use crate::source::{self, Location, Segment, Segments};

/// Ingests: expand, stage each source, publish all of them by one swap of the manifest.
pub fn ingest(lake: &Lake, mut request: IngestRequest<'_>, control: &Control<'_>) -> Result<IngestSummary> {
    let mut summary = IngestSummary::default();
    let mut unreadable: Vec<(String, Error)> = Vec::new();
    for (input, error) in std::mem::take(&mut request.inputs.failed) {
        if request.on_error == OnError::Fail {
            return Err(error);
        }
        unreadable.push((input, error));
    }
    let loader = Loader::new(lake, &request, control)?;
    let known = Manifest::load(lake, request.reader.dataset())?;
    let mut given: Vec<Given> = Vec::new();
    let mut staged: Vec<Staged> = Vec::new();
    for file in request.classify(&mut unreadable)? {
        match loader.take(&file, &known, &mut staged) {
            Ok(source) => given.push(source),
            Err(error) if request.on_error == OnError::Reject && error.kind() == ErrorKind::Input => {
                unreadable.push((file.location.uri, error));
            }
            Err(error) => return Err(error),
        }
    }
    if given.is_empty() {
        // Nothing at all could be read: the first reason says more than an empty summary.
        let first = unreadable.into_iter().next().map(|(_, error)| error);
        return Err(first.unwrap_or_else(|| Error::new(ErrorKind::Usage, "no input")));
    }
    summary.unreadable = unreadable.into_iter().map(|(input, error)| (input, error.message().to_owned())).collect();
    for Staged { source, first_rejects, .. } in &staged {
        summary.records += source.records;
        let uri = source.uris.concat();
        summary
            .first_rejects
            .extend(first_rejects.iter().map(|reject| format!("{uri}:{}: {}", reject.line, reject.reason)));
        for (table, parts) in &source.parts {
            *summary.rows.entry(table.clone()).or_default() += parts.iter().map(|part| part.rows).sum::<u64>();
        }
        summary.notes.merge(&source.notes);
    }
    let Published { manifest, added, replaced } = publish::publish(lake, &request, control, &given, staged)?;
    for Given { uri, key, class } in &given {
        let Some(source) = manifest.sources.iter().find(|source| source.key == *key) else { continue };
        let is_new = added.contains(uri) || replaced.contains(uri);
        if !is_new {
            let same =
                source.uris.iter().find(|other| *other != uri && !known.sources.iter().any(|s| s.uris.contains(uri)));
            summary
                .unchanged
                .push(same.map_or_else(|| uri.clone(), |same| format!("{uri} (the same content as {same})")));
        }
        let also = manifest.sources.iter().find(|other| other.sha256 == source.sha256 && other.key != source.key);
        if let (true, Some(other)) = (is_new, also) {
            summary.also_there.push((uri.clone(), other.uris.concat()));
        }
        if !is_new && request.provenance.is_some() && class.takes_provenance {
            summary.described.push(uri.clone());
        }
        if !summary.keys.contains(key) {
            summary.keys.push(key.clone());
            summary.rejected += source.rejected;
        }
    }
    (summary.added, summary.replaced, summary.set_aside) = (added, replaced, manifest.set_aside);
    Ok(summary)
}

/// A source whose parts are finished and not published.
pub(super) struct Staged {
    pub(super) source: SourceEntry,
    pub(super) staging: Staging,
    first_rejects: Vec<Reject>,
}

/// What hashing a file says.
enum Naming {
    /// The lake, or this run, has its content already.
    Known(Given),
    /// It is new.
    New(Named),
}

/// A new source: its key, and the folder its parts are staged in.
struct Named {
    given: Given,
    sha256: String,
    staging: Staging,
}

/// Whether a file need not be read on: it is known, or could not be hashed.
fn is_over(naming: &OnceLock<Result<Naming>>) -> bool {
    matches!(naming.get(), Some(Err(_) | Ok(Naming::Known(_))))
}

struct Loader<'a> {
    lake: &'a Lake,
    request: &'a IngestRequest<'a>,
    control: &'a Control<'a>,
    schemas: Vec<TableSchema>,
    rejects: TableSchema,
    total: u64,
    done: Mutex<(u64, u64)>,
}

impl<'a> Loader<'a> {
    fn new(lake: &'a Lake, request: &'a IngestRequest<'a>, control: &'a Control<'a>) -> Result<Self> {
        let schemas = TableSchema::load_all(request.assets, request.reader.dataset())?;
        let rejects = TableSchema::load(request.assets, "lake", "rejects")?;
        let total = request.inputs.locations.iter().map(|location| location.size).sum();
        Ok(Self { lake, request, control, schemas, rejects, total, done: Mutex::new((0, 0)) })
    }

    /// A file's key; content that is not known yet is read into staging. Hashing and reading go on at once, unless the lake seems
    /// to have the file.
    fn take(&self, file: &ClassifiedFile, known: &Manifest, staged: &mut Vec<Staged>) -> Result<Given> {
        let location = &file.location;
        let naming = OnceLock::new();
        let is_likely_known =
            known.sources.iter().any(|source| source.size == location.size && source.uris.contains(&location.uri));
        let name = || self.name(file, known, staged);
        let records = if is_likely_known && let Ok(Naming::Known(_)) = naming.get_or_init(name) {
            Ok(Vec::new())
        } else {
            self.read(file, &naming, name)
        };
        let naming = naming.into_inner();
        let named = match naming.unwrap_or_else(|| Err(Error::new(ErrorKind::Check, "the file was not hashed")))? {
            Naming::Known(given) => {
                self.passed(location.size);
                return Ok(given);
            }
            Naming::New(named) => named,
        };
        let records = records?;
        if stamp(location)? != file.stamp {
            // Its segments belong to no content that the key names.
            named.staging.discard();
            return Err(Error::new(ErrorKind::Input, "the file changed while it was read")
                .with("file", &location.uri)
                .hint("wait until it is complete and run again"));
        }
        self.passed(location.size);
        let given = named.given.clone();
        staged.push(self.collect(location, named, records)?);
        Ok(given)
    }

    /// Hashes a file, which says whether it is new.
    fn name(&self, file: &ClassifiedFile, known: &Manifest, staged: &[Staged]) -> Result<Naming> {
        let location = &file.location;
        let sha256 = source::digest(&location.path)?;
        let key = self.source_key(&sha256, &file.class.options);
        let given = Given { uri: location.uri.clone(), key, class: file.class.clone() };
        let mut sources = known.sources.iter().chain(staged.iter().map(|staged| &staged.source));
        if sources.any(|source| source.key == given.key) {
            return Ok(Naming::Known(given));
        }
        let staging = Staging::resumable(self.lake, &format!("{}-{}", self.request.reader.dataset(), given.key))?;
        Ok(Naming::New(Named { given, sha256, staging }))
    }

    fn passed(&self, bytes: u64) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.0 += bytes;
    }

    fn source_key(&self, sha256: &str, options: &SourceOptions) -> String {
        let identity = serde_json::json!({
            "content": sha256,
            "dataset": self.request.reader.dataset(),
            "options": options,
            "reader": self.request.reader.identity(),
        });
        source::hex(&Sha256::digest(identity.to_string().as_bytes())[..8])
    }

    /// Reads a file while it is being named; gives nothing for one that turns out to be known.
    fn read(
        &self,
        file: &ClassifiedFile,
        naming: &OnceLock<Result<Naming>>,
        name: impl FnOnce() -> Result<Naming> + Send,
    ) -> Result<Vec<SegmentRecord>> {
        let opened = source::open(&file.location)?;
        let position = opened.position.clone();
        let target = segment_bytes(file.location.size);
        let mut segments = Segments::new(opened.reader, &file.location, target, self.request.max_line);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Workers wait for the name: it must come, whatever happens.
                let named = std::panic::catch_unwind(AssertUnwindSafe(name));
                naming.get_or_init(|| named.unwrap_or_else(|_| Err(Error::new(ErrorKind::Check, "hashing failed"))));
            });
            self.run(&mut segments, file, naming, target, &|| position.load(Ordering::Relaxed))
        })
    }

    /// Walks the segments, a bounded number of them at work at a time.
    fn run(
        &self,
        segments: &mut Segments<Box<dyn std::io::Read + Send>>,
        file: &ClassifiedFile,
        naming: &OnceLock<Result<Naming>>,
        target: usize,
        position: &dyn Fn() -> u64,
    ) -> Result<Vec<SegmentRecord>> {
        let threads = self.control.engine.threads;
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|e| Error::new(ErrorKind::Io, format!("cannot start threads: {e}")).caused_by(e))?;
        let limit = (self.control.engine.memory.min(MOST_MEMORY) / (6 * target)).clamp(1, threads + 1);
        let permits = Permits::new(limit);
        let results: Mutex<BTreeMap<u32, Result<Option<SegmentRecord>>>> = Mutex::new(BTreeMap::new());
        let failed = AtomicBool::new(false);
        let mut reading = Ok(());
        pool.in_place_scope(|scope| {
            while !failed.load(Ordering::Relaxed) && !is_over(naming) {
                let permit = permits.take();
                let segment = match segments.next() {
                    Ok(Some(segment)) => segment,
                    Ok(None) => break,
                    Err(error) => {
                        reading = Err(error);
                        break;
                    }
                };
                let (results, failed) = (&results, &failed);
                scope.spawn(move |_| {
                    let ordinal = segment.ordinal;
                    let result = self.segment(&segment, file, naming);
                    drop(segment);
                    if result.is_err() {
                        failed.store(true, Ordering::Relaxed);
                    }
                    results.lock().unwrap_or_else(PoisonError::into_inner).insert(ordinal, result);
                    drop(permit);
                });
                self.report(position());
            }
        });
        // The first failure in file order is the one to tell, whichever thread met one first.
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let records = results.into_values().filter_map(Result::transpose).collect::<Result<Vec<_>>>()?;
        reading.map(|()| records)
    }

    fn report(&self, position: u64) {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        (self.control.progress)(Progress { total: self.total, read: done.0 + position, records: done.1 });
    }

    /// Reads a segment and writes its parts, or finds them finished; nothing if the file has no need to be read.
    fn segment(
        &self,
        segment: &Segment,
        file: &ClassifiedFile,
        naming: &OnceLock<Result<Naming>>,
    ) -> Result<Option<SegmentRecord>> {
        let content = Content::of(segment);
        if let Some(Ok(Naming::New(named))) = naming.get()
            && let Some(record) = self.finished(named, segment, content)
        {
            return Ok(Some(record));
        }
        if is_over(naming) {
            return Ok(None);
        }
        let uri = &file.location.uri;
        let read = self.request.reader.read(segment, &file.class).map_err(|e| e.with("file", uri))?;
        self.refuse_rejects(&read, segment, uri)?;
        let Ok(Naming::New(named)) = naming.wait() else { return Ok(None) };
        if let Some(record) = self.finished(named, segment, content) {
            return Ok(Some(record));
        }
        let place = Place { dir: named.staging.path(), key: &named.given.key, uri, ordinal: segment.ordinal };
        let record = SegmentRecord::write(&place, &self.schemas, &self.rejects, read, content)?;
        self.done.lock().unwrap_or_else(PoisonError::into_inner).1 += record.records;
        Ok(Some(record))
    }

    /// The record of a segment whose parts an earlier run finished, unless what it rejected matters now.
    fn finished(&self, named: &Named, segment: &Segment, content: Content) -> Option<SegmentRecord> {
        let record = SegmentRecord::finished(named.staging.path(), segment.ordinal, content)?;
        let is_usable = record.rejects.is_none() || self.request.on_error == OnError::Reject;
        if is_usable {
            self.done.lock().unwrap_or_else(PoisonError::into_inner).1 += record.records;
        }
        is_usable.then_some(record)
    }

    fn refuse_rejects(&self, read: &SegmentTables, segment: &Segment, uri: &str) -> Result<()> {
        match read.rejects.first() {
            Some(reject) if self.request.on_error == OnError::Fail => {
                Err(Error::new(ErrorKind::Input, reject.reason.clone())
                    .with("file", uri)
                    .with(segment.numbered_by(), reject.line)
                    .hint("nothing was published; mend the file, or keep bad records aside with --on-error reject"))
            }
            _ => Ok(()),
        }
    }

    /// The manifest entry of a source whose segments are all finished.
    fn collect(&self, location: &Location, named: Named, records: Vec<SegmentRecord>) -> Result<Staged> {
        let Named { given, sha256, staging } = named;
        let mut source = SourceEntry {
            key: given.key.clone(),
            uris: vec![given.uri.clone()],
            size: location.size,
            sha256,
            options: given.class.options.clone(),
            reader: self.request.reader.identity(),
            form: given.class.form,
            sequence: 0,
            supersedes: self.request.supersede,
            records: 0,
            rejected: 0,
            ids: Ids::union(records.iter().map(|record| &record.ids)).shortened(),
            provenance: None,
            notes: Notes::default(),
            parts: BTreeMap::new(),
            rejects: Vec::new(),
        };
        let mut first_rejects = Vec::new();
        for record in records {
            source.records += record.records;
            source.rejected += record.rejects.as_ref().map_or(0, |part| part.rows);
            source.notes.merge(&record.notes);
            for (table, part) in record.parts {
                source.parts.entry(table).or_default().push(part);
            }
            source.rejects.extend(record.rejects);
            first_rejects.extend(record.first_rejects);
        }
        let nothing = |message: &str| Error::new(ErrorKind::Input, message.to_owned()).with("file", &location.uri);
        if source.records == 0 {
            return Err(nothing("no records: the file is empty"));
        }
        if source.records == source.rejected {
            let first = first_rejects
                .first()
                .map_or(String::new(), |reject| format!("line {}: {}", reject.line, reject.reason));
            return Err(nothing(&format!("no line of the file fits {}; {first}", self.request.reader.dataset()))
                .hint("is it the right file for this dataset?"));
        }
        self.request.reader.conclude(&mut source.notes);
        Ok(Staged { source, staging, first_rejects })
    }
}

/// Bytes that segments at work may take, whatever `--memory` allows the engine.
const MOST_MEMORY: usize = 768 << 20;
