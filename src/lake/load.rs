//! Ingest: sources become finished parts in staging, segment by segment in parallel, and are then published at once.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::Lake;
use super::manifest::{Manifest, SourceEntry};
use super::permits::Permits;
use super::publish::{self, Published};
use super::request::{ClassifiedFile, Control, Given, IngestRequest, IngestSummary, OnError, Progress};
use super::segment::{Content, Place, SegmentRecord, segment_bytes};
use super::staging::Staging;
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::{Ids, Notes, Reject, SegmentTables, SourceOptions};
use crate::schema::TableSchema;
use crate::source::{self, Location, Segment, Segments};
use crate::store::Stamp;

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

    /// The key of a file's content; content that is not known yet is read into staging.
    fn take(&self, file: &ClassifiedFile, known: &Manifest, staged: &mut Vec<Staged>) -> Result<Given> {
        let location = &file.location;
        let sha256 = location.file.sha256().map_err(Error::of_input)?;
        let key = self.source_key(&sha256, &file.class.options);
        let given = Given { uri: location.uri.clone(), key, class: file.class.clone() };
        let is_known = known.sources.iter().chain(staged.iter().map(|staged| &staged.source));
        if is_known.into_iter().any(|source| source.key == given.key) {
            self.passed(location.size);
        } else {
            staged.push(self.stage(location, &given, &sha256, &file.stamp)?);
        }
        Ok(given)
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

    /// Reads one source into staging.
    fn stage(&self, location: &Location, given: &Given, sha256: &str, before: &Stamp) -> Result<Staged> {
        let staging = Staging::resumable(self.lake, &format!("{}-{}", self.request.reader.dataset(), given.key))?;
        let opened = source::open(location)?;
        let position = opened.position.clone();
        let target = segment_bytes(location.size);
        let mut segments = Segments::new(opened.reader, location, target, self.request.max_line);
        let records = self.run(&mut segments, staging.path(), given, target, &|| position.load(Ordering::Relaxed))?;
        // A server that names no content is asked for it once more.
        let is_same = location.file.is_told_apart() || location.file.sha256()? == sha256;
        if !is_same || location.file.stamp().map_err(Error::of_input)? != *before {
            // Its segments belong to no content that the key names.
            staging.discard();
            return Err(Error::new(ErrorKind::Input, "the file changed while it was read")
                .with("file", &location.uri)
                .hint("wait until it is complete and run again"));
        }
        self.passed(location.size);
        self.collect(location, given, sha256, records, staging)
    }

    /// Walks the segments, a bounded number of them at work at a time.
    fn run(
        &self,
        segments: &mut Segments<Box<dyn std::io::Read + Send>>,
        dir: &Path,
        given: &Given,
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
        let results: Mutex<BTreeMap<u32, Result<SegmentRecord>>> = Mutex::new(BTreeMap::new());
        let failed = AtomicBool::new(false);
        let mut reading = Ok(());
        pool.in_place_scope(|scope| {
            while !failed.load(Ordering::Relaxed) {
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
                    let result = self.segment(&segment, dir, given);
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
        let records = results.into_values().collect::<Result<Vec<_>>>()?;
        reading.map(|()| records)
    }

    fn report(&self, position: u64) {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        (self.control.progress)(Progress { total: self.total, read: done.0 + position, records: done.1 });
    }

    /// Reads a segment and writes its parts, or finds them finished.
    fn segment(&self, segment: &Segment, dir: &Path, given: &Given) -> Result<SegmentRecord> {
        let content = Content::of(segment);
        let finished = SegmentRecord::finished(dir, segment.ordinal, content);
        let record =
            match finished.filter(|record| record.rejects.is_none() || self.request.on_error == OnError::Reject) {
                Some(record) => record,
                None => {
                    let read = self
                        .request
                        .reader
                        .read(segment, &given.key, &given.class)
                        .map_err(|e| e.with("file", &given.uri))?;
                    self.refuse_rejects(&read, segment, &given.uri)?;
                    let place = Place { dir, key: &given.key, uri: &given.uri, ordinal: segment.ordinal };
                    SegmentRecord::write(&place, &self.schemas, &self.rejects, read, content)?
                }
            };
        self.done.lock().unwrap_or_else(PoisonError::into_inner).1 += record.records;
        Ok(record)
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
    fn collect(
        &self,
        location: &Location,
        given: &Given,
        sha256: &str,
        records: Vec<SegmentRecord>,
        staging: Staging,
    ) -> Result<Staged> {
        let mut source = SourceEntry {
            key: given.key.clone(),
            uris: vec![given.uri.clone()],
            size: location.size,
            revision: location.revision.clone(),
            sha256: sha256.into(),
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
