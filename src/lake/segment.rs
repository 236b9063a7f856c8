//! The files of one finished segment in staging: a Parquet part a table, and a record written last that says they are whole.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use serde::{Deserialize, Serialize};

use super::PartWriter;
use super::manifest::Part;
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::{Ids, Notes, Reject, SegmentTables, TableBuilder};
use crate::schema::TableSchema;
use crate::source::Segment;
use crate::store::write_atomically;

/// zstd level of parts: the lake is written once and read often, but waiting for it is worse.
const LEVEL: i32 = 1;

/// Where a segment's files go.
pub(super) struct Place<'a> {
    pub(super) dir: &'a Path,
    pub(super) key: &'a str,
    pub(super) uri: &'a str,
    pub(super) ordinal: u32,
}

/// Enough to tell a segment from another one at its place: staging is named by the digest of the whole file already, so this
/// only guards against a file that changed while it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Content {
    bytes: u64,
    crc32: u32,
}

impl Content {
    pub(super) fn of(segment: &Segment) -> Self {
        let (bytes, crc32) = segment.checksum();
        Self { bytes, crc32 }
    }
}

/// What is kept beside the parts, so that a later run need not read the segment again.
#[derive(Serialize, Deserialize)]
pub(super) struct SegmentRecord {
    content: Content,
    pub(super) records: u64,
    pub(super) ids: Ids,
    pub(super) notes: Notes,
    pub(super) parts: BTreeMap<String, Part>,
    pub(super) rejects: Option<Part>,
    pub(super) first_rejects: Vec<Reject>,
}

impl SegmentRecord {
    fn path(dir: &Path, ordinal: u32) -> PathBuf {
        dir.join(format!("{ordinal:05}.json"))
    }

    /// The record of a segment that an earlier run finished. Absent, cut short by a kill, or of other content: none.
    pub(super) fn finished(dir: &Path, ordinal: u32, content: Content) -> Option<Self> {
        let record: Self = serde_json::from_slice(&std::fs::read(Self::path(dir, ordinal)).ok()?).ok()?;
        let there = |table: &str, part: &Part| dir.join(format!("{table}-{}", part.file)).exists();
        let complete = record.parts.iter().all(|(table, part)| there(table, part))
            && record.rejects.iter().all(|part| there("rejects", part));
        (record.content == content && complete).then_some(record)
    }

    /// Writes the parts, then the record.
    pub(super) fn write(
        place: &Place<'_>,
        schemas: &[TableSchema],
        rejects_schema: &TableSchema,
        read: SegmentTables,
        content: Content,
    ) -> Result<Self> {
        let file = format!("{}-{:05}.parquet", place.key, place.ordinal);
        let part = |table: &str, schema: &TableSchema, batch: &RecordBatch| {
            let staged = write_part(place.dir, &format!("{table}-{file}"), schema, batch)?;
            Ok::<_, Error>(Part { file: file.clone(), ..staged })
        };
        let mut parts = BTreeMap::new();
        for (table, batch) in read.tables.iter().filter(|(_, batch)| batch.num_rows() > 0) {
            let schema = schemas.iter().find(|schema| schema.table == *table).ok_or_else(|| {
                Error::new(ErrorKind::Check, "the reader fills a table without schema").with("table", table)
            })?;
            parts.insert((*table).to_owned(), part(table, schema, batch)?);
        }
        let mut rejects = None;
        if !read.rejects.is_empty() {
            let mut table = TableBuilder::new(rejects_schema);
            for reject in &read.rejects {
                table.text(Some(place.uri))?.int(Some(reject.line as i64))?;
                table.text(Some(&reject.reason))?.text(Some(&reject.text))?;
            }
            rejects = Some(part("rejects", rejects_schema, &table.finish()?)?);
        }
        let mut first_rejects = read.rejects;
        first_rejects.truncate(5);
        first_rejects.iter_mut().for_each(|reject| reject.text.clear());
        let record =
            Self { content, records: read.records, ids: read.ids, notes: read.notes, parts, rejects, first_rejects };
        let text = serde_json::to_vec(&record).map_err(|e| Error::new(ErrorKind::Check, e.to_string()).caused_by(e))?;
        write_atomically(&Self::path(place.dir, place.ordinal), &text)?;
        Ok(record)
    }
}

/// Writes a part under a temporary name and renames it.
pub(super) fn write_part(dir: &Path, file: &str, schema: &TableSchema, batch: &RecordBatch) -> Result<Part> {
    let path = dir.join(file);
    let temporary: PathBuf = path.with_extension("writing");
    let mut writer = PartWriter::create(&temporary, schema, LEVEL)?;
    writer.write(batch)?;
    let rows = writer.finish()?;
    let bytes = std::fs::metadata(&temporary).map_err(|e| Error::io(&temporary, "read", e))?.len();
    std::fs::rename(&temporary, &path).map_err(|e| Error::io(&path, "write", e))?;
    Ok(Part { file: file.to_owned(), rows, bytes })
}

/// Raw bytes a segment: a function of the file's size, so that a file always gives the same parts.
pub(super) fn segment_bytes(size: u64) -> usize {
    match size >> 20 {
        0..256 => 8 << 20,
        _ => 16 << 20,
    }
}
