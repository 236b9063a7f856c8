//! Publishing a snapshot: a folder is filled in staging, and renamed to its id, or uploaded, its manifest last.

use std::collections::BTreeMap;

use arrow::array::{Array, AsArray};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rayon::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::manifest::{Input, SnapshotColumn, SnapshotManifest, SnapshotTable};
use super::{MANIFEST, Snapshot, digest, named, place, pointer};
use crate::error::{Error, ErrorKind, Result};
use crate::lake::manifest::Manifest;
use crate::lake::{self, Lake, Staging};
use crate::pipeline::{Level, Plan};
use crate::schema::Column;
use crate::score::{Scored, ScoredTable};
use crate::source::hex;
use crate::store::{File, Folder, Version, Written};

/// A published snapshot.
#[derive(Debug)]
pub struct Published {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// Whether the same one was there before.
    pub was_there: bool,
    /// Whether `LATEST-<protocol>` names it now.
    pub is_latest: bool,
    /// Whether it would, had the lake not changed while it was scored.
    pub is_outdated: bool,
    /// complete or partial, by this run's inputs: an equal snapshot may have come from others.
    pub status: String,
}

/// Publishes scored tables: digest, manifest, rename. [`make_latest`] points to it.
pub fn publish(
    lake: &Lake,
    staging: &Staging,
    sources: &Manifest,
    plan: &Plan,
    scored: &Scored,
    may_be_latest: bool,
) -> Result<Published> {
    let manifest = manifest(sources, plan, scored)?;
    let dir = lake.snapshots_dir(&plan.dataset.id).join(&manifest.id);
    let was_there = match &dir {
        Folder::Disk(dir) => place::rename(staging.path(), dir, &manifest)?,
        Folder::Bucket(..) => place::upload(staging.path(), &dir, &manifest)?,
    };
    if was_there {
        tell_anew(lake, plan, &dir, &manifest, may_be_latest)?;
    }
    let published = Published {
        was_there,
        is_latest: false,
        is_outdated: false,
        status: manifest.status,
        snapshot: Snapshot::open(dir)?,
    };
    Ok(published)
}

/// Makes a published snapshot the latest of its protocol, if the plan is the pipeline's own and the lake is still what was scored.
pub fn make_latest(lake: &Lake, sources: &Manifest, plan: &Plan, published: &mut Published) -> Result<()> {
    if !plan.is_default {
        return Ok(());
    }
    let id = &published.snapshot.manifest.id;
    let file = pointer(lake, &plan.dataset.id, &plan.protocol);
    for _ in 0..ATTEMPTS {
        let _lock = lake::lock(lake, &plan.dataset.id)?;
        let (text, version) = file.read_versioned()?.unwrap_or((Vec::new(), Version::Absent));
        // One that is damaged is written anew.
        let latest = named(&text);
        // A slow scoring must not put an older lake's result over a newer one. In a bucket the lake may change behind this look; whoever
        // changed it then finds this writer's mark where its own is due, and looks again.
        published.is_outdated = Manifest::load(lake, &plan.dataset.id)? != *sources;
        published.is_latest = !published.is_outdated;
        // Named already, perhaps by a request of this loop whose answer was lost.
        let is_named = latest.as_ref() == Some(id);
        if published.is_outdated || is_named || file.write_if(format!("{id}\n").as_bytes(), &version)? == Written::Done
        {
            return Ok(());
        }
    }
    published.is_latest = false;
    Err(Error::new(ErrorKind::Conflict, format!("other writers moved the latest snapshot each time, {ATTEMPTS} times"))
        .with("file", file)
        .hint(format!("snapshot {id} is published; score again to make it the latest")))
}

/// How often the latest snapshot is named while others name theirs.
const ATTEMPTS: u32 = 8;

/// An equal snapshot may have come from other inputs, other queries, or inputs of which less was told: its manifest then tells of
/// this run. But a run by options of its own does not rewrite what the latest one says of itself.
fn tell_anew(lake: &Lake, plan: &Plan, dir: &Folder, manifest: &SnapshotManifest, may_be_latest: bool) -> Result<()> {
    let _lock = lake::lock(lake, &plan.dataset.id)?;
    let file = dir.file(MANIFEST);
    let Some((text, version)) = file.read_versioned()? else { return Ok(()) };
    let there = SnapshotManifest::parse(&file, &text)?;
    let latest = pointer(lake, &plan.dataset.id, &plan.protocol).read()?;
    let is_latest = latest.and_then(|text| named(&text)).as_ref() == Some(&there.id);
    // The files are those that are there.
    let told = SnapshotManifest { tables: there.tables.clone(), manifest_sha256: String::new(), ..manifest.clone() };
    let same = SnapshotManifest { manifest_sha256: String::new(), ..there } == told;
    if same || (is_latest && !(plan.is_default && may_be_latest)) {
        return Ok(());
    }
    // Refused: another run tells of itself at this moment, and its word is as good.
    file.write_if(told.to_text()?.as_bytes(), &version).map(|_| ())
}

fn manifest(sources: &Manifest, plan: &Plan, scored: &Scored) -> Result<SnapshotManifest> {
    let mut inputs: Vec<Input> = sources
        .sources
        .iter()
        .map(|source| Input {
            uris: source.uris.clone(),
            size: source.size,
            revision: source.revision.clone(),
            sha256: source.sha256.clone(),
            records: source.records,
            rejected: source.rejected,
            reader: source.reader.clone(),
            options: source.options.clone(),
            form: source.form,
            ids: source.ids.clone(),
            provenance: source.provenance.clone(),
            notes: source.notes.clone(),
        })
        .collect();
    inputs.sort_by(|a, b| (&a.sha256, &a.uris).cmp(&(&b.sha256, &b.uris)));
    let ledger = scored.tables.iter().find(|table| table.schema.table == "ledger");
    let left_out = scored.findings.iter().any(|finding| finding.level == Level::Partial && finding.n > 0);
    let partial = inputs.iter().any(|input| input.rejected > 0) || left_out;
    let mut manifest = SnapshotManifest {
        format: SnapshotManifest::FORMAT,
        id: String::new(),
        dataset: plan.dataset.id.clone(),
        protocol: plan.protocol.clone(),
        parameters: plan.parameters.clone(),
        is_default: plan.is_default,
        metric_version: plan.metric_version,
        status: if partial { "partial" } else { "complete" }.into(),
        tool: concat!("scorelake ", env!("CARGO_PKG_VERSION")).into(),
        pipeline: plan.name.clone(),
        pipeline_sha256: plan.pipeline_sha256.clone(),
        sql_sha256: query_digests(plan),
        intervals: plan.intervals.clone(),
        tables: scored.tables.par_iter().map(entry).collect::<Result<_>>()?,
        ledger: ledger.map_or(Ok(Vec::new()), |table| ledger_totals(&File::from(table.path.as_path())))?,
        findings: scored.findings.clone(),
        inputs,
        manifest_sha256: String::new(),
    };
    manifest.id = manifest.compute_id();
    Ok(manifest)
}

/// SHA-256 of each query of a plan, by path.
pub fn query_digests(plan: &Plan) -> BTreeMap<String, String> {
    plan.queries().map(|sql| (sql.path.clone(), hex(&Sha256::digest(sql.text.as_bytes())))).collect()
}

fn entry(table: &ScoredTable) -> Result<SnapshotTable> {
    let file = File::from(table.path.as_path());
    let (rows_sha256, rows) = digest::table(&file, &table.schema)?;
    let bytes = std::fs::metadata(&table.path).map_err(|e| Error::io(&table.path, "read", e))?.len();
    Ok(SnapshotTable {
        name: table.schema.table.clone(),
        file: format!("{}.parquet", table.schema.table),
        rows,
        bytes,
        sha256: file.sha256()?,
        rows_sha256,
        key: table.schema.key.clone(),
        order: table.schema.sort_columns().to_vec(),
        columns: table.schema.columns.iter().map(column).collect(),
    })
}

fn column(column: &Column) -> SnapshotColumn {
    SnapshotColumn { name: column.name.clone(), column_type: column.column_type, nullable: column.nullable }
}

/// The ledger's rows of level `all`, as JSON objects.
pub(super) fn ledger_totals(file: &File) -> Result<Vec<Value>> {
    let mut totals = Vec::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(file.chunks()?)?.build()? {
        let batch = batch?;
        let levels = batch.column_by_name("level").map(|column| column.as_string::<i32>().clone());
        for row in 0..batch.num_rows() {
            if levels.as_ref().is_none_or(|levels| levels.is_null(row) || levels.value(row) != "all") {
                continue;
            }
            let mut writer = arrow::json::WriterBuilder::new()
                .with_explicit_nulls(true)
                .build::<_, arrow::json::writer::LineDelimited>(Vec::new());
            writer.write(&batch.slice(row, 1))?;
            writer.finish()?;
            let value = serde_json::from_slice(&writer.into_inner());
            totals.push(value.map_err(|e| Error::new(ErrorKind::Check, e.to_string()).caused_by(e))?);
        }
    }
    Ok(totals)
}
