//! Two replies about one thing: which one counts. Every reply stays in the lake; those that do not count are listed in
//! `set_aside`. Which replies are about one thing, and which metadata contradict each other, a dataset says in
//! `sql/<dataset>/lake/`: `repeated_hashes.sql` where keys are very many, `repeated_keys.sql`, `repeated.sql` and `conflicts.sql`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray, UInt64Array};
use arrow::compute::{SortColumn, cast, concat_batches, lexsort_to_indices, partition, take};
use arrow::datatypes::{DataType, Int64Type};
use sha2::{Digest, Sha256};

use super::Lake;
use super::manifest::{Manifest, Part};
use super::publish::named_by_content;
use super::segment::write_part;
use super::session::{Engine, EngineOptions};
use super::staging::Staging;
use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::Notes;
use crate::pipeline::{Parameter, SqlFile};
use crate::schema::TableSchema;
use crate::schema::dataset::Dataset;
use crate::source::hex;
use crate::store::{File, Folder, sync_dir, upload_all};

/// What two readable replies of different text do.
#[derive(Debug, Clone, Copy)]
pub(super) enum OnConflict<'a> {
    /// They are an error if one of them is from these sources.
    RefuseFrom(&'a HashSet<String>),
    /// The one with the greatest digest counts.
    Settle,
}

/// Bytes before looking for repeated keys spills to disk: publishing keeps to the bound of ingest.
const MOST_MEMORY: usize = 256 << 20;

/// Columns of `repeated.sql` behind the key: source, source_line, digest, readable.
const BEHIND_KEY: usize = 4;

/// Refuses contradicting metadata and settles repeated replies into the manifest's `set_aside`.
pub(super) fn settle(
    lake: &Lake,
    assets: &Assets,
    options: EngineOptions,
    manifest: &mut Manifest,
    on_conflict: OnConflict<'_>,
) -> Result<()> {
    manifest.set_aside = Notes::default();
    manifest.set_aside_part = None;
    let dataset = Dataset::find(assets, &manifest.dataset)?;
    let schemas = TableSchema::load_all(assets, &dataset.id)?;
    let parts = format!("{}_parts", dataset.sql_schema);
    let options = EngineOptions { memory: options.memory.min(MOST_MEMORY), ..options };
    let opened = || {
        let engine = Engine::new(assets, options, &parts)?;
        engine.register_parts(lake, manifest, &schemas, &parts)?;
        Ok(engine)
    };
    let engine = opened()?;
    let folder = format!("sql/{}/lake", dataset.sql_schema);
    let there = assets.list(&folder, "sql")?;
    let run = |name: &str| -> Result<Option<RecordBatch>> {
        let path = format!("{folder}/{name}.sql");
        if !there.contains(&path) {
            return Ok(None);
        }
        let batches = engine.query(&assets.text(&path)?).map_err(|e| e.with("file", &path))?;
        let Some(first) = batches.first() else { return Ok(None) };
        let all = concat_batches(&first.schema(), &batches)?;
        Ok((all.num_rows() > 0).then_some(all))
    };
    if let Some(conflicts) = run("conflicts")? {
        return Err(contradiction(&conflicts, manifest));
    }
    // Nearly always there is none, which the keys alone tell, and of very many keys their hashes; the replies are only looked at
    // where there are some.
    if there.contains(&format!("{folder}/repeated_hashes.sql")) {
        let Some(hashes) = repeated_hashes(&opened, assets, &folder, manifest)? else { return Ok(()) };
        engine.register_batches(&parts, "repeated_hashes", hashes.schema(), vec![hashes])?;
    }
    let Some(keys) = run("repeated_keys")? else { return Ok(()) };
    engine.register_batches(&parts, "repeated_keys", keys.schema(), vec![keys])?;
    let Some(repeated) = run("repeated")? else { return Ok(()) };
    let repeated = sorted(&repeated)?;
    let path = format!("{folder}/repeated_keys.sql");
    let grain = SqlFile::parse(&path, assets.text(&path)?)?.grain;
    let aside = losers(&repeated, manifest, on_conflict, &grain)?;
    let schema = schemas.iter().find(|schema| schema.table == "set_aside").ok_or_else(|| {
        Error::new(ErrorKind::Config, "the dataset has no schema `set_aside`").with("dataset", &manifest.dataset)
    })?;
    let batch = aside_rows(&repeated, &aside, schema)?;
    aside.iter().for_each(|(_, reason)| manifest.set_aside.add(reason, 1));
    let dir = lake.table_dir(&manifest.dataset, "set_aside");
    let identity: Vec<&str> = manifest.sources.iter().map(|source| source.key.as_str()).collect();
    let digest = hex(&Sha256::digest(format!("{identity:?}{aside:?}"))[..8]);
    let name = format!("{digest}.parquet");
    manifest.set_aside_part = Some(match &dir {
        Folder::Disk(dir) => {
            std::fs::create_dir_all(dir).map_err(|e| Error::io(dir, "make the folder", e))?;
            let part = write_part(dir, &name, schema, &batch)?;
            sync_dir(dir)?;
            part
        }
        Folder::Bucket(..) => {
            let staging = Staging::private(lake, "set_aside")?;
            let part = write_part(staging.path(), &name, schema, &batch)?;
            let staged = staging.path().join(&name);
            let part = Part { file: named_by_content(&name, &staged)?, ..part };
            if let File::Object(object) = dir.file(&part.file) {
                upload_all(vec![(staged, object)])?;
            }
            part
        }
    });
    Ok(())
}

/// Keys that a table may hold before `repeated_hashes.sql` goes over it in parts, by `hash % $parts = $part`: the groups of one
/// part then fit the memory, however many keys there are.
const KEYS_AT_ONCE: u64 = 2_000_000;

/// The hashes that stand more than once.
fn repeated_hashes(
    opened: &dyn Fn() -> Result<Engine>,
    assets: &Assets,
    folder: &str,
    manifest: &Manifest,
) -> Result<Option<RecordBatch>> {
    let path = format!("{folder}/repeated_hashes.sql");
    let text = assets.text(&path)?;
    let is_asked = |table: &str| text.contains(&format!("_parts.{table})"));
    let parts = manifest.sources.iter().flat_map(|source| &source.parts).filter(|(table, _)| is_asked(table));
    let rows: u64 = parts.flat_map(|(_, parts)| parts).map(|part| part.rows).sum();
    let parts = rows.div_ceil(KEYS_AT_ONCE).max(1);
    let mut found = Vec::new();
    for part in 0..parts {
        let number = |value: u64| Parameter::Int(i64::try_from(value).unwrap_or(i64::MAX));
        let bound = BTreeMap::from([("parts".to_owned(), number(parts)), ("part".to_owned(), number(part))]);
        // An engine for each part: the allocator gives back what threads held when they end, and not before.
        let engine = opened()?;
        let frame = engine.plan_with(&text, &bound).map_err(|e| e.with("file", &path))?;
        found.extend(engine.collect(frame).map_err(|e| e.with("file", &path))?);
    }
    let Some(first) = found.first() else { return Ok(None) };
    let all = concat_batches(&first.schema(), &found)?;
    Ok((all.num_rows() > 0).then_some(all))
}

/// Rows by key and place, so that replies about one thing stand together.
fn sorted(rows: &RecordBatch) -> Result<RecordBatch> {
    let by = rows.columns()[..rows.num_columns() - 2]
        .iter()
        .map(|column| SortColumn { values: column.clone(), options: None });
    let order = lexsort_to_indices(&by.collect::<Vec<_>>(), None)?;
    let columns = rows.columns().iter().map(|column| take(column, &order, None)).collect::<Result<Vec<_>, _>>()?;
    Ok(RecordBatch::try_new(rows.schema(), columns)?)
}

fn contradiction(conflicts: &RecordBatch, manifest: &Manifest) -> Error {
    let place = |row: usize| place(manifest, &text(conflicts, 1, row), int(conflicts, 2, row));
    Error::new(ErrorKind::Conflict, format!("{} in two places", text(conflicts, 0, 0)))
        .with("first", place(0))
        .with("second", place(1.min(conflicts.num_rows() - 1)))
        .hint("nothing was published; keep the right one of the two")
}

/// Rows that do not count, each with its reason, in the order of the rows.
fn losers(
    rows: &RecordBatch,
    manifest: &Manifest,
    on_conflict: OnConflict<'_>,
    grain: &str,
) -> Result<Vec<(usize, &'static str)>> {
    let key = &rows.columns()[..rows.num_columns() - BEHIND_KEY];
    let replies: Vec<Reply> = (0..rows.num_rows()).map(|row| Reply::new(rows, row, manifest)).collect();
    let mut aside = Vec::new();
    for group in partition(key)?.ranges() {
        let group = &replies[group];
        let newest = group.iter().filter_map(|reply| reply.superseding).max();
        let is_superseded = |reply: &&Reply| newest.is_some_and(|newest| reply.sequence < newest);
        let (older, mut candidates): (Vec<&Reply>, Vec<&Reply>) = group.iter().partition(is_superseded);
        aside.extend(older.iter().map(|reply| (reply.row, "superseded")));
        // The winner first: most readable, then the greatest digest, then the first place, which only equal texts get to.
        candidates.sort_by_key(|reply| (Reverse(reply.readable), Reverse(reply.digest.clone()), reply.row));
        let Some((winner, others)) = candidates.split_first() else { continue };
        for other in others {
            let reason = if other.digest == winner.digest || winner.readable == -1 {
                "same_text"
            } else if other.readable < winner.readable {
                "less_readable"
            } else {
                if let OnConflict::RefuseFrom(new) = on_conflict
                    && [*winner, *other].iter().any(|reply| new.contains(&reply.source))
                {
                    return Err(conflict(rows, (winner, other), manifest, grain));
                }
                "different_text"
            };
            aside.push((other.row, reason));
        }
    }
    aside.sort_unstable();
    Ok(aside)
}

struct Reply {
    row: usize,
    source: String,
    line: i64,
    digest: Option<String>,
    readable: i64,
    sequence: u64,
    /// The sequence again, if the source replaces older replies.
    superseding: Option<u64>,
}

impl Reply {
    fn new(rows: &RecordBatch, row: usize, manifest: &Manifest) -> Self {
        let at = rows.num_columns() - BEHIND_KEY;
        let source = text(rows, at, row);
        let entry = manifest.sources.iter().find(|entry| entry.key == source);
        Self {
            row,
            line: int(rows, at + 1, row),
            digest: (!rows.column(at + 2).is_null(row)).then(|| text(rows, at + 2, row)),
            readable: int(rows, at + 3, row),
            sequence: entry.map_or(0, |entry| entry.sequence),
            superseding: entry.filter(|entry| entry.supersedes).map(|entry| entry.sequence),
            source,
        }
    }
}

fn conflict(rows: &RecordBatch, (a, b): (&Reply, &Reply), manifest: &Manifest, grain: &str) -> Error {
    let key = rows.schema().fields()[..rows.num_columns() - BEHIND_KEY]
        .iter()
        .zip(rows.columns())
        .map(|(field, column)| (field.name().clone(), arrow::util::display::array_value_to_string(column, a.row)))
        .filter_map(|(name, value)| value.ok().filter(|value| !value.is_empty()).map(|value| format!("{name}={value}")))
        .collect::<Vec<_>>();
    Error::new(ErrorKind::Conflict, format!("two different records about {grain}"))
        .with("item", key.join(", "))
        .with("first", place(manifest, &a.source, a.line))
        .with("second", place(manifest, &b.source, b.line))
        .hint("nothing was published. Another judge or another revision is an entry of its own: --judge NAME, --model-revision R; another model, assessor or run needs another name: --model NAME. Otherwise --supersede lets the new file win, --on-error reject keeps the greatest SHA-256 and counts it")
}

/// The key and place of the rows that do not count, with their reasons.
fn aside_rows(rows: &RecordBatch, aside: &[(usize, &'static str)], schema: &TableSchema) -> Result<RecordBatch> {
    let indices = UInt64Array::from_iter_values(aside.iter().map(|(row, _)| *row as u64));
    let arrow = schema.arrow();
    let mut columns: Vec<ArrayRef> = Vec::new();
    for (column, field) in rows.columns()[..rows.num_columns() - 2].iter().zip(arrow.fields()) {
        columns.push(cast(&take(column, &indices, None)?, field.data_type())?);
    }
    columns.push(Arc::new(StringArray::from_iter_values(aside.iter().map(|(_, reason)| *reason))));
    Ok(RecordBatch::try_new(arrow, columns)?)
}

fn place(manifest: &Manifest, source: &str, line: i64) -> String {
    match manifest.sources.iter().find(|entry| entry.key == source).and_then(|entry| entry.uris.first()) {
        Some(uri) => format!("{uri}:{line}"),
        None => format!("source {source}:{line}"),
    }
}

fn text(batch: &RecordBatch, column: usize, row: usize) -> String {
    let column = batch.column(column);
    match column.data_type() {
        DataType::Utf8View => column.as_string_view().value(row).to_owned(),
        _ => column.as_string::<i32>().value(row).to_owned(),
    }
}

fn int(batch: &RecordBatch, column: usize, row: usize) -> i64 {
    batch.column(column).as_primitive::<Int64Type>().value(row)
}
