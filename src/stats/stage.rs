//! The stage between scoring and the snapshot: intervals, standings and sensitivity become result tables.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};

use super::intervals::{Interval, estimate};
use super::sample::{Entry, SampleRows};
use super::sensitivity::{ByRule, by_rule};
use super::standings::{Standing, standings};
use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::grid::Grid;
use crate::lake::manifest::Manifest;
use crate::lake::session::{Engine, EngineOptions};
use crate::lake::{Lake, PartWriter, Staging};
use crate::pipeline::{Plan, PlannedIntervals, PlannedSample};
use crate::schema::TableSchema;
use crate::score::{Scored, ScoredTable, result_rows};

const LEVEL: i32 = 3;

/// Where a run reads from.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The lake.
    pub lake: &'a Lake,
    /// What of it is scored.
    pub manifest: &'a Manifest,
    /// How engines run.
    pub options: EngineOptions,
}

/// Adds the tables `intervals` and, where the pipeline has them, `standings` and `sensitivity`.
pub fn add_tables(
    assets: &Assets,
    sources: Sources,
    plan: &Plan,
    scored: &mut Scored,
    dir: &Path,
    step_done: &dyn Fn(&str),
) -> Result<()> {
    let Some(intervals) = &plan.intervals else { return Ok(()) };
    let wanted = |sample: &&PlannedSample| intervals.samples.contains(&sample.entry.name);
    let chosen: Vec<&PlannedSample> = plan.samples.iter().filter(wanted).collect();
    let bound = plan.bound();
    let mut read = Vec::new();
    for sample in &chosen {
        read.push((*sample, SampleRows::read(&scored.engine, sample, &bound)?));
    }
    let estimated = estimate(read, intervals)?;
    let rows = interval_columns(estimated.intervals.clone(), intervals);
    scored.tables.push(write(assets, plan, "intervals", rows, dir)?);
    if let Some(ranking) = chosen.iter().find(|sample| sample.entry.ranks) {
        let with_units: Vec<&PlannedSample> =
            chosen.iter().copied().filter(|sample| sample.entry.kind.has_units()).collect();
        let board = board(&scored.engine, ranking)?;
        let standings = standings(ranking, &estimated.observed, &with_units, &estimated.intervals, &board, intervals);
        scored.tables.push(write(assets, plan, "standings", standing_columns(standings), dir)?);
    }
    step_done("intervals");
    if let Some(entry) = &plan.sensitivity {
        let grid = |name: &str| Grid::of(scored.engine.table(name)?.into_iter().map(Ok));
        let (table, scores) = (grid(&entry.table)?, grid(&entry.scores)?);
        let others = by_variants(assets, sources, plan, &entry.table)?;
        let rows = sensitivity_columns(by_rule(entry, &table, &others, &scores));
        scored.tables.push(write(assets, plan, "sensitivity", rows, dir)?);
        step_done("sensitivity");
    }
    Ok(())
}

/// A result table by the plan's variants.
fn by_variants(assets: &Assets, sources: Sources, plan: &Plan, table: &str) -> Result<Vec<(String, Grid)>> {
    let mut grids = Vec::new();
    for (name, variant) in &plan.variants {
        let staging = Staging::private(sources.lake, "sensitivity")?;
        let rows =
            result_rows(assets, sources.lake, sources.manifest, variant, sources.options, table, staging.path())?;
        if let Some(rows) = rows {
            grids.push((name.clone(), Grid::of(rows.into_iter().map(Ok))?));
        }
    }
    Ok(grids)
}

/// The rank of every entry of a leaderboard.
fn board(engine: &Engine, ranking: &PlannedSample) -> Result<BTreeMap<Entry, Option<i64>>> {
    let scope = ranking.entry.scope_column.as_deref().unwrap_or("");
    let mut board = BTreeMap::new();
    for batch in engine.table(&ranking.entry.table)? {
        let text = |name: &str| -> Result<Option<StringArray>> {
            let column = batch.column_by_name(name).map(|column| cast(column, &DataType::Utf8)).transpose()?;
            Ok(column.map(|column| column.as_string::<i32>().clone()))
        };
        let [scope, model, revision, judge] = [text(scope)?, text("model")?, text("model_revision")?, text("judge")?];
        let ranks = batch.column_by_name("rank").map(|ranks| ranks.as_primitive::<Int64Type>());
        let at = |column: &Option<StringArray>, row: usize| {
            column.as_ref().map_or_else(String::new, |column| column.value(row).to_owned())
        };
        for row in 0..batch.num_rows() {
            let entry = Entry {
                scope: at(&scope, row),
                model: at(&model, row),
                model_revision: at(&revision, row),
                judge: at(&judge, row),
            };
            board.insert(entry, ranks.filter(|ranks| ranks.is_valid(row)).map(|ranks| ranks.value(row)));
        }
    }
    Ok(board)
}

type Columns = Vec<(&'static str, ArrayRef)>;

fn texts<'a>(values: impl Iterator<Item = &'a str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn some_texts(values: impl Iterator<Item = Option<String>>) -> ArrayRef {
    Arc::new(values.collect::<StringArray>())
}

fn doubles(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(values.collect::<Float64Array>())
}

fn counts(values: impl Iterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.collect::<Int64Array>())
}

fn interval_columns(mut rows: Vec<Interval>, plan: &PlannedIntervals) -> Columns {
    let key =
        |row: &Interval| (row.table.clone(), row.entry.clone(), row.item.clone(), row.statistic.clone(), row.method);
    rows.sort_by_cached_key(key);
    let bound =
        |which: fn(&super::Bounds) -> f64| doubles(rows.iter().map(move |row| row.bounds.as_ref().ok().map(which)));
    let whole = |value: Option<u64>| value.and_then(|value| i64::try_from(value).ok());
    vec![
        ("result_table", texts(rows.iter().map(|row| row.table.as_str()))),
        ("scope", texts(rows.iter().map(|row| row.entry.scope.as_str()))),
        ("model", texts(rows.iter().map(|row| row.entry.model.as_str()))),
        ("item", texts(rows.iter().map(|row| row.item.as_str()))),
        ("statistic", texts(rows.iter().map(|row| row.statistic.as_str()))),
        ("method", texts(rows.iter().map(|row| row.method))),
        ("estimate", doubles(rows.iter().map(|row| row.estimate))),
        ("low", bound(|bounds| bounds.low)),
        ("high", bound(|bounds| bounds.high)),
        ("n", counts(rows.iter().map(|row| whole(Some(row.n))))),
        ("confidence", doubles(rows.iter().map(|_| Some(plan.confidence)))),
        ("replicates", counts(rows.iter().map(|row| whole(row.replicates)))),
        ("seed", counts(rows.iter().map(|row| whole(row.seed)))),
        ("reason", some_texts(rows.iter().map(|row| row.bounds.err().map(str::to_owned)))),
        ("model_revision", texts(rows.iter().map(|row| row.entry.model_revision.as_str()))),
        ("judge", texts(rows.iter().map(|row| row.entry.judge.as_str()))),
    ]
}

fn standing_columns(mut rows: Vec<Standing>) -> Columns {
    let key = |row: &Standing| {
        let entry = row.entry.clone();
        (entry.scope, entry.judge, row.rank.is_none(), row.rank, entry.model, entry.model_revision)
    };
    rows.sort_by_cached_key(key);
    let spread = |which: fn(&super::ranks::RankSpread) -> u64| {
        counts(rows.iter().map(move |row| row.ranks.as_ref().and_then(|spread| i64::try_from(which(spread)).ok())))
    };
    vec![
        ("rank", counts(rows.iter().map(|row| row.rank))),
        ("model", texts(rows.iter().map(|row| row.entry.model.as_str()))),
        ("scope", texts(rows.iter().map(|row| row.entry.scope.as_str()))),
        ("score", doubles(rows.iter().map(|row| row.score))),
        ("low", doubles(rows.iter().map(|row| row.bounds.map(|bounds| bounds.low)))),
        ("high", doubles(rows.iter().map(|row| row.bounds.map(|bounds| bounds.high)))),
        ("rank_low", spread(|spread| spread.low)),
        ("rank_high", spread(|spread| spread.high)),
        ("share_first", doubles(rows.iter().map(|row| row.ranks.map(|spread| spread.first)))),
        ("rank_group", some_texts(rows.iter().map(|row| row.groups.clone()))),
        ("n", counts(rows.iter().map(|row| i64::try_from(row.n).ok()))),
        ("model_revision", texts(rows.iter().map(|row| row.entry.model_revision.as_str()))),
        ("judge", texts(rows.iter().map(|row| row.entry.judge.as_str()))),
    ]
}

fn sensitivity_columns(mut rows: Vec<ByRule>) -> Columns {
    let key = |row: &ByRule| {
        let Entry { scope, model, model_revision, judge } = row.entry.clone();
        (scope, judge, row.rule.clone(), row.rank.is_none(), row.rank, model, model_revision)
    };
    rows.sort_by_cached_key(key);
    let change = |row: &ByRule| row.rank_as_scored.zip(row.rank).map(|(before, now)| before - now);
    vec![
        ("rule", texts(rows.iter().map(|row| row.rule.as_str()))),
        ("scope", texts(rows.iter().map(|row| row.entry.scope.as_str()))),
        ("model", texts(rows.iter().map(|row| row.entry.model.as_str()))),
        ("score", doubles(rows.iter().map(|row| row.score))),
        ("rank", counts(rows.iter().map(|row| row.rank))),
        ("rank_as_scored", counts(rows.iter().map(|row| row.rank_as_scored))),
        ("places_won", counts(rows.iter().map(change))),
        ("order_changed", Arc::new(rows.iter().map(|row| Some(row.order_changed)).collect::<BooleanArray>())),
        ("n", counts(rows.iter().map(|row| row.n))),
        ("model_revision", texts(rows.iter().map(|row| row.entry.model_revision.as_str()))),
        ("judge", texts(rows.iter().map(|row| row.entry.judge.as_str()))),
    ]
}

/// Writes columns as the result table that the schemas describe.
fn write(assets: &Assets, plan: &Plan, table: &str, columns: Columns, dir: &Path) -> Result<ScoredTable> {
    let schema = TableSchema::load(assets, &plan.dataset.id, table)?;
    let found: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let wanted: Vec<&str> = schema.columns.iter().map(|column| column.name.as_str()).collect();
    if found != wanted {
        return Err(Error::new(ErrorKind::Config, "the schema's columns are not those of the table")
            .with("table", table)
            .with("found", found.join(", "))
            .with("schema", wanted.join(", ")));
    }
    let path = dir.join(format!("{table}.parquet"));
    let batch = RecordBatch::try_new(schema.arrow(), columns.into_iter().map(|(_, column)| column).collect())?;
    let mut writer = PartWriter::create(&path, &schema, LEVEL)?;
    writer.write(&batch)?;
    let rows = writer.finish()?;
    Ok(ScoredTable { schema, path, rows })
}
