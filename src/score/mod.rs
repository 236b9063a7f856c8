//! Scoring: a plan's steps run in order on DataFusion; result tables are written as they come, sorted by their key.

mod inexact;
mod second_opinion;
mod tables;

pub use second_opinion::{Difference, OpinionTable, Ranked, compare, second_opinion};
pub(crate) use tables::{PUBLISHED, display_names, register as register_small_tables, register_published};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::prelude::DataFrame;
use serde::{Deserialize, Serialize};

use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::grid::{Datum, Grid};
use crate::lake::manifest::Manifest;
use crate::lake::session::{Engine, EngineOptions};
use crate::lake::{Lake, PartWriter};
use crate::pipeline::{Bound, Level, Output, Plan, PlannedCheck, PlannedFinding, PlannedGate, PlannedStep, SqlFile};
use crate::schema::TableSchema;
use crate::store::File;

/// zstd level of result tables.
const LEVEL: i32 = 3;

/// A result table on disk.
#[derive(Debug, Clone)]
pub struct ScoredTable {
    /// Its schema.
    pub schema: TableSchema,
    /// Its file.
    pub path: PathBuf,
    /// Rows.
    pub rows: u64,
}

/// What scoring gives.
pub struct Scored {
    /// Result tables, in the order of the steps.
    pub tables: Vec<ScoredTable>,
    /// What the reader of the numbers should know.
    pub findings: Vec<Finding>,
    /// The session in which the steps can be asked further questions.
    pub(crate) engine: Engine,
}

impl Scored {
    /// A result table.
    pub fn table(&self, name: &str) -> Option<&ScoredTable> {
        self.tables.iter().find(|table| table.schema.table == name)
    }
}

/// The answer to a finding's question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Name of the query.
    pub name: String,
    /// How much it matters.
    pub level: Level,
    /// The count.
    pub n: i64,
    /// What is told.
    pub text: String,
    /// Whether it is worth telling.
    pub is_told: bool,
}

/// Columns of other aggregations, for the table `sensitivity`.
const SENSITIVITY: [&str; 7] = ["rule", "scope", "model", "model_revision", "judge", "score", "n"];

/// A value that a gate looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct GateValue {
    /// Of what.
    pub what: String,
    /// The value; without one the gate does not hold.
    pub value: Option<f64>,
    /// Whether it is on the right side of the bound.
    pub holds: bool,
}

impl Scored {
    /// The values of a gate's query, each against the bound.
    pub fn gate_values(&self, plan: &Plan, sql: &SqlFile, bound: Bound, limit: f64) -> Result<Vec<GateValue>> {
        let frame = planned(&self.engine, plan, sql)?;
        require_gate(&frame, sql)?;
        let rows = self.engine.collect(frame).map_err(|e| e.with("file", &sql.path))?;
        let value = |row: &BTreeMap<String, Datum>| {
            let value = row.get("value").and_then(Datum::number);
            let holds = value.is_some_and(|value| match bound {
                Bound::AtLeast => value >= limit,
                Bound::AtMost => value <= limit,
            });
            GateValue { what: row.get("what").map(Datum::text).unwrap_or_default(), value, holds }
        };
        Ok(Grid::of(rows.into_iter().map(Ok))?.rows.iter().map(value).collect())
    }
}

/// Scores what a manifest names into Parquet files under `dir`: session, steps, checks, findings.
pub fn score(
    assets: &Assets,
    lake: &Lake,
    manifest: &Manifest,
    plan: &Plan,
    options: EngineOptions,
    dir: &Path,
    step_done: &dyn Fn(&str),
) -> Result<Scored> {
    let engine = Engine::new(assets, options.for_manifest(manifest), &plan.dataset.sql_schema)?;
    engine.register_dataset(&plan.dataset, lake, manifest)?;
    tables::register(assets, &engine, &plan.dataset)?;
    tables::register_published(assets, &engine)?;
    let mut tables = Vec::new();
    for step in &plan.steps {
        tables.extend(run_step(&engine, plan, step, dir)?);
        step_done(&step.name);
    }
    for check in &plan.checks {
        run_check(&engine, plan, check)?;
    }
    let findings = plan.findings.iter().map(|finding| ask(&engine, plan, finding)).collect::<Result<_>>()?;
    step_done("checks and findings");
    Ok(Scored { tables, findings, engine })
}

/// The rows of one result table by a plan: the steps that it needs run, and nothing is checked or told. `None` if the plan has no such
/// table.
pub fn result_rows(
    assets: &Assets,
    lake: &Lake,
    manifest: &Manifest,
    plan: &Plan,
    options: EngineOptions,
    table: &str,
    dir: &Path,
) -> Result<Option<Vec<RecordBatch>>> {
    let is_it = |step: &PlannedStep| step.name == table && step.schema.is_some();
    let Some(last) = plan.steps.iter().position(is_it) else { return Ok(None) };
    let engine = Engine::new(assets, options.for_manifest(manifest), &plan.dataset.sql_schema)?;
    engine.register_dataset(&plan.dataset, lake, manifest)?;
    tables::register(assets, &engine, &plan.dataset)?;
    for step in needed(&plan.steps[..=last]) {
        run_step(&engine, plan, step, dir)?;
    }
    engine.table(table).map(Some)
}

/// The steps that the last one needs, and it, in order: those whose names stand in the text of one that is needed.
fn needed(steps: &[PlannedStep]) -> Vec<&PlannedStep> {
    let mut needed: Vec<&PlannedStep> = Vec::new();
    for step in steps.iter().rev() {
        let names = |other: &&PlannedStep| {
            let mut words = other.sql.text.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.any(|word| word == step.name)
        };
        if needed.is_empty() || needed.iter().any(names) {
            needed.push(step);
        }
    }
    needed.reverse();
    needed
}

/// Plans every step and check of a plan against empty tables: what `scorelake check` does without data.
pub fn dry_run(assets: &Assets, plan: &Plan, options: EngineOptions) -> Result<()> {
    let engine = Engine::new(assets, options, &plan.dataset.sql_schema)?;
    let nowhere = Lake::nowhere();
    engine.register_dataset(&plan.dataset, &nowhere, &Manifest::empty(&plan.dataset.id))?;
    tables::register(assets, &engine, &plan.dataset)?;
    tables::register_published(assets, &engine)?;
    for step in &plan.steps {
        let frame = planned(&engine, plan, &step.sql)?;
        if let Some(schema) = &step.schema {
            require_columns(&frame, schema, &step.sql)?;
        }
        engine.register_view(&plan.dataset.sql_schema, &step.name, frame)?;
    }
    for check in &plan.checks {
        planned(&engine, plan, &check.sql)?;
    }
    for sample in &plan.samples {
        let frame = planned(&engine, plan, &sample.sql)?;
        let found: Vec<_> = frame.schema().fields().iter().map(|field| field.name().as_str()).collect();
        sample.require_columns(&found)?;
    }
    if let Some(sensitivity) = &plan.sensitivity {
        let columns = engine.columns(&sensitivity.scores)?;
        let found: Vec<&str> = columns.iter().map(String::as_str).collect();
        if found != SENSITIVITY {
            return Err(Error::new(ErrorKind::Config, "the step of [sensitivity] has other columns than it must")
                .with("step", &sensitivity.scores)
                .with("found", found.join(", "))
                .with("wanted", SENSITIVITY.join(", ")));
        }
    }
    for gate in &plan.gates {
        if let PlannedGate::Values { sql, .. } = gate {
            require_gate(&planned(&engine, plan, sql)?, sql)?;
        }
    }
    for finding in &plan.findings {
        let frame = planned(&engine, plan, &finding.sql)?;
        let types: Vec<_> = frame.schema().fields().iter().map(|field| field.data_type().clone()).collect();
        if !matches!(types.as_slice(), [DataType::Int64, DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8]) {
            return Err(Error::new(ErrorKind::Config, "a finding gives one row of a BIGINT `n` and a text `detail`")
                .with("file", &finding.sql.path));
        }
    }
    Ok(())
}

fn planned(engine: &Engine, plan: &Plan, sql: &SqlFile) -> Result<DataFrame> {
    let frame = engine.plan_with(&sql.text, &plan.bound()).map_err(|e| e.with("file", &sql.path))?;
    inexact::refuse(frame.logical_plan()).map_err(|e| e.with("file", &sql.path))?;
    Ok(frame)
}

fn run_step(engine: &Engine, plan: &Plan, step: &PlannedStep, dir: &Path) -> Result<Option<ScoredTable>> {
    let frame = planned(engine, plan, &step.sql)?;
    let sql_schema = &plan.dataset.sql_schema;
    match (&step.schema, step.sql.output) {
        (Some(schema), _) => {
            require_columns(&frame, schema, &step.sql)?;
            let path = dir.join(format!("{}.parquet", step.name));
            let rows = write(engine, frame, schema, &path).map_err(|e| e.with("file", &step.sql.path))?;
            engine.register_files(sql_schema, schema, &[File::from(path.as_path())])?;
            Ok(Some(ScoredTable { schema: schema.clone(), path, rows }))
        }
        (None, Output::Memory) => {
            let schema = frame.schema().inner().clone();
            let batches = engine.collect(frame).map_err(|e| e.with("file", &step.sql.path))?;
            engine.register_batches(sql_schema, &step.name, schema, batches)?;
            Ok(None)
        }
        (None, _) => {
            engine.register_view(sql_schema, &step.name, frame)?;
            Ok(None)
        }
    }
}

/// A gate's query gives a text `what` and a number `value`.
fn require_gate(frame: &DataFrame, sql: &SqlFile) -> Result<()> {
    let fields: Vec<_> =
        frame.schema().fields().iter().map(|field| (field.name().as_str(), field.data_type())).collect();
    match fields.as_slice() {
        [("what", DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8), ("value", value)]
            if value.is_numeric() =>
        {
            Ok(())
        }
        _ => Err(Error::new(ErrorKind::Config, "a gate's query gives a text `what` and a number `value`")
            .with("file", &sql.path)),
    }
}

/// Columns must be the schema's, in its order; types may differ only in how they are held.
fn require_columns(frame: &DataFrame, schema: &TableSchema, sql: &SqlFile) -> Result<()> {
    let found: Vec<_> = frame.schema().fields().iter().map(|field| field.name().as_str()).collect();
    let wanted: Vec<_> = schema.columns.iter().map(|column| column.name.as_str()).collect();
    if found != wanted {
        return Err(Error::new(ErrorKind::Config, "the query's columns are not the table's")
            .with("file", &sql.path)
            .with("table", &schema.table)
            .with("found", found.join(", "))
            .with("schema", wanted.join(", ")));
    }
    for (field, column) in frame.schema().fields().iter().zip(&schema.columns) {
        use arrow::datatypes::DataType::{LargeUtf8, Utf8, Utf8View};
        let same = match (field.data_type(), column.column_type.arrow()) {
            (Utf8 | Utf8View | LargeUtf8, Utf8) => true,
            (found, wanted) => *found == wanted,
        };
        if !same {
            return Err(Error::new(
                ErrorKind::Config,
                format!("the column is {} where the schema has {}", field.data_type(), column.column_type.name()),
            )
            .with("file", &sql.path)
            .with("column", &column.name));
        }
    }
    Ok(())
}

fn write(engine: &Engine, frame: DataFrame, schema: &TableSchema, path: &Path) -> Result<u64> {
    let arrow = schema.arrow();
    let mut writer = PartWriter::create(path, schema, LEVEL)?;
    engine.stream(frame, |batch| {
        let columns = batch.columns().iter().zip(arrow.fields()).map(|(column, field)| cast(column, field.data_type()));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        writer.write(&RecordBatch::try_new(arrow.clone(), columns)?)
    })?;
    writer.finish()
}

fn run_check(engine: &Engine, plan: &Plan, check: &PlannedCheck) -> Result<()> {
    let rows = engine.collect(planned(engine, plan, &check.sql)?)?;
    let Some(batch) = rows.iter().find(|batch| batch.num_rows() > 0) else { return Ok(()) };
    let failed =
        |kind| Error::new(kind, format!("a check failed: {}", check.sql.question)).with("file", &check.sql.path);
    Err(match &check.hint {
        // A check that can say what to do is about what the lake must have.
        Some(hint) => failed(ErrorKind::Lacking).hint(hint),
        None => failed(ErrorKind::Check)
            .with("first row", tables::row_text(batch, 0)?)
            .hint("nothing was published; this is a fault of the pipeline or of scorelake, not of the data"),
    })
}

fn ask(engine: &Engine, plan: &Plan, finding: &PlannedFinding) -> Result<Finding> {
    let rows = engine.collect(planned(engine, plan, &finding.sql)?)?;
    let row = rows
        .iter()
        .find(|batch| batch.num_rows() > 0)
        .ok_or_else(|| Error::new(ErrorKind::Config, "a finding gave no row").with("file", &finding.sql.path))?;
    let n = row.column(0).as_primitive::<Int64Type>().value(0);
    let detail = cast(row.column(1), &DataType::Utf8)?;
    let detail = detail.as_string::<i32>();
    let detail = if detail.is_null(0) { "" } else { detail.value(0) };
    Ok(Finding {
        name: finding.sql.name.clone(),
        level: finding.entry.level,
        n,
        text: finding.entry.text.replace("{n}", &n.to_string()).replace("{detail}", detail),
        is_told: n > 0 || finding.entry.always,
    })
}
