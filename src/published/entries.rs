//! Which figures of the results a published table's columns are.

use std::collections::{BTreeMap, BTreeSet};

use super::PublishedTable;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::{CellEntry, Pipeline, PublishedEntry};
use crate::schema::ColumnType;
use crate::snapshot::{SnapshotManifest, SnapshotTable};

/// Columns of results that name who is scored, and what files call it.
const WHO: [&str; 6] = ["model", "run", "assessor", "generator", "metric", "score_name"];
const NAMES: [&str; 3] = ["model", "display_name", "name"];
/// Columns of keys that a published table need not have.
const OWN: [&str; 3] = ["model_revision", "judge", "reference_revision"];
/// Tables that no one publishes.
const NEVER: [&str; 5] = ["ledger", "intervals", "standings", "sensitivity", "judge_health"];

/// How a published table corresponds to the results: as the pipeline says of the table of this name, or of one with these columns; else by
/// columns that are called as those of a result table.
pub fn entries_for(
    pipeline: &Pipeline,
    table: &PublishedTable,
    manifest: &SnapshotManifest,
) -> Result<Vec<PublishedEntry>> {
    let known: Vec<PublishedEntry> =
        pipeline.published.iter().filter(|entry| entry.table == table.name).cloned().collect();
    if !known.is_empty() {
        return Ok(known);
    }
    let fits = |entry: &&PublishedEntry| entry.row.keys().all(|column| table.columns.contains(column));
    let common = |entry: &PublishedEntry| entry.cells.keys().filter(|column| table.columns.contains(column)).count();
    let names: BTreeSet<&String> = pipeline.published.iter().map(|entry| &entry.table).collect();
    let like = |name: &String| -> Vec<PublishedEntry> {
        let own = pipeline.published.iter().filter(|entry| entry.table == *name).filter(fits);
        own.filter(|entry| common(entry) > 0).cloned().collect()
    };
    let mut best = names.into_iter().map(like).max_by_key(|entries| entries.iter().map(common).sum::<usize>());
    let mut entries = best.take().unwrap_or_default();
    if let Some(generic) = by_names(pipeline, table, manifest) {
        let covered: usize = entries.iter().map(common).sum();
        if generic.cells.len() > covered && entries.first().is_none_or(|entry| entry.result != generic.result) {
            return Ok(vec![generic]);
        }
        // Further columns of the same result table.
        let told: BTreeSet<String> =
            entries.iter().flat_map(|entry| entry.cells.keys().chain(entry.row.keys())).cloned().collect();
        if let Some(entry) = entries.iter_mut().find(|entry| entry.result == generic.result) {
            entry.cells.extend(generic.cells.into_iter().filter(|(column, _)| !told.contains(column)));
        }
    }
    if entries.is_empty() { Err(none(pipeline, table, manifest)) } else { Ok(entries) }
}

/// Columns of the file that are in no entry.
pub fn not_compared(table: &PublishedTable, entries: &[PublishedEntry]) -> Vec<String> {
    let is_used = |column: &&String| {
        column.as_str() == "source"
            || entries.iter().any(|entry| entry.cells.contains_key(*column) || entry.row.contains_key(*column))
    };
    table.columns.iter().filter(|column| !is_used(column)).cloned().collect()
}

/// The result table of which the file has most columns of numbers, and at least one that names its rows.
fn by_names(pipeline: &Pipeline, table: &PublishedTable, manifest: &SnapshotManifest) -> Option<PublishedEntry> {
    let place = |candidate: &SnapshotTable| pipeline.show.iter().position(|name| *name == candidate.name);
    let mut best: Option<PublishedEntry> = None;
    let mut candidates: Vec<&SnapshotTable> =
        manifest.tables.iter().filter(|candidate| !NEVER.contains(&candidate.name.as_str())).collect();
    candidates.sort_by_key(|candidate| place(candidate).unwrap_or(pipeline.show.len()));
    for candidate in candidates {
        let entry = against(table, candidate);
        let found = entry.as_ref().map_or(0, |entry| entry.cells.len());
        if found > best.as_ref().map_or(0, |entry| entry.cells.len()) {
            best = entry;
        }
    }
    best
}

fn against(table: &PublishedTable, candidate: &SnapshotTable) -> Option<PublishedEntry> {
    let mut row = BTreeMap::new();
    for key in candidate.key.iter().filter(|key| !OWN.contains(&key.as_str())) {
        let is_who = WHO.contains(&key.as_str());
        let named = table.columns.iter().find(|column| *column == key);
        let alias = || table.columns.iter().find(|column| is_who && NAMES.contains(&column.as_str()));
        if let Some(column) = named.or_else(alias) {
            row.insert(column.clone(), key.clone());
        }
    }
    let is_number = |kind: ColumnType| matches!(kind, ColumnType::Int64 | ColumnType::Float64);
    let cells: BTreeMap<String, CellEntry> = candidate
        .columns
        .iter()
        .filter(|column| is_number(column.column_type) && !candidate.key.contains(&column.name))
        .filter(|column| table.columns.contains(&column.name))
        .map(|column| (column.name.clone(), CellEntry::Column(column.name.clone())))
        .collect();
    let n = candidate.columns.iter().find(|column| column.name == "n").map(|column| column.name.clone());
    (!row.is_empty() && !cells.is_empty()).then(|| PublishedEntry {
        table: table.name.clone(),
        result: candidate.name.clone(),
        row,
        fixed: BTreeMap::new(),
        cells,
        names: BTreeMap::new(),
        n,
    })
}

fn none(pipeline: &Pipeline, table: &PublishedTable, manifest: &SnapshotManifest) -> Error {
    let columns = |name: &String| {
        let shown = manifest.tables.iter().find(|candidate| candidate.name == *name)?;
        Some(shown.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", "))
    };
    let shown = pipeline.show.iter().find_map(columns).unwrap_or_default();
    Error::new(ErrorKind::Input, "the table's columns are none that can be set beside the snapshot")
        .with("file", &table.name)
        .with("found", table.columns.join(", "))
        .hint(format!("a column that names the models and columns called as those of a result table, such as {shown}"))
}
