//! The headline tables once more, by lazy Polars straight from the lake's Parquet, so that a fault of one engine or of one
//! query does not pass unseen. The columns it needs are held in memory, whatever `--memory` says.
//!
//! Nothing is shared with the SQL but the lake, the parameters and the schemas: each dataset's aggregation is written again.

mod agiqa_3k;
mod compare;
mod fager;
mod magicbench;
mod magicdata340k;
mod qwen_image_bench;

use std::io::Cursor;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use polars::prelude::{
    Column, DataFrame, DataType, Expr, IntoColumn, IntoLazy, JoinArgs, JoinType, LazyFrame, NULL, NamedFrom,
    PolarsResult, RankMethod, RankOptions, Series, SortMultipleOptions, UnionArgs, col, concat, lit, when,
};
use polars_io::SerReader;
use polars_io::parquet::read::ParquetReader;

pub use compare::{Difference, compare};

use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::lake::Lake;
use crate::lake::manifest::Manifest;
use crate::pipeline::{Parameter, Plan};
use crate::schema::{ColumnType, TableSchema};
use crate::store::File;

/// A table as Polars computes it, in the schema's columns and order.
#[derive(Debug, Clone)]
pub struct OpinionTable {
    /// The schema of DataFusion's table, of which it may lack columns.
    pub schema: TableSchema,
    /// All rows, sorted as the schema says.
    pub batch: RecordBatch,
    /// The column that ranks rows by another one, if there is such a column.
    pub ranked_by: Option<Ranked>,
}

/// Two columns: ranks, and the scores they follow. Scores that are equal but for rounding may be ranked either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranked {
    /// Column of ranks.
    pub rank: &'static str,
    /// Column of scores.
    pub score: &'static str,
}

/// Boards are ranked so.
const RANKED: Ranked = Ranked { rank: "rank", score: "overall" };

/// Computes the headline tables of a plan; an error for a dataset that has no second opinion.
pub fn second_opinion(assets: &Assets, lake: &Lake, manifest: &Manifest, plan: &Plan) -> Result<Vec<OpinionTable>> {
    let sources = Sources { assets, lake, manifest, plan };
    let tables = match plan.dataset.id.as_str() {
        qwen_image_bench::DATASET => qwen_image_bench::tables(&sources)?,
        agiqa_3k::DATASET => agiqa_3k::tables(&sources)?,
        fager::DATASET => fager::tables(&sources)?,
        magicbench::DATASET => magicbench::tables(&sources)?,
        magicdata340k::DATASET => magicdata340k::tables(&sources)?,
        other => {
            return Err(Error::new(ErrorKind::Usage, format!("Polars does not know how to score `{other}`"))
                .hint("leave --engine out"));
        }
    };
    tables
        .into_iter()
        .map(|(name, frame)| {
            let mut schema = TableSchema::load(assets, &plan.dataset.id, name)?;
            // It may leave columns out, but none of those by which rows are told and sorted.
            let names = frame.get_column_names();
            schema.columns.retain(|column| names.iter().any(|name| name.as_str() == column.name));
            let batch = to_arrow(&in_order(frame, &schema)?, &schema)?;
            let ranked_by = name == "leaderboard" && schema.columns.iter().any(|column| column.name == RANKED.rank);
            let ranked_by = ranked_by.then_some(RANKED);
            Ok(OpinionTable { schema, batch, ranked_by })
        })
        .collect()
}

/// What a second opinion is made from.
struct Sources<'a> {
    assets: &'a Assets,
    lake: &'a Lake,
    manifest: &'a Manifest,
    plan: &'a Plan,
}

impl Sources<'_> {
    /// Columns of a lake table as it is stored.
    fn scan(&self, table: &str, columns: &[&str]) -> Result<LazyFrame> {
        let schema = TableSchema::load(self.assets, &self.plan.dataset.id, table)?;
        let wanted: Vec<String> = columns.iter().map(|name| (*name).to_owned()).collect();
        let mut frames = vec![empty(&schema)?.select(columns.iter().copied())?.lazy()];
        for file in self.manifest.files(self.lake, table)? {
            let columns = Some(wanted.clone());
            let frame = match &file {
                File::Disk(path) => {
                    let open = std::fs::File::open(path).map_err(|e| Error::io(path, "open", e))?;
                    ParquetReader::new(open).with_columns(columns).finish()
                }
                _ => ParquetReader::new(Cursor::new(file.read_required()?)).with_columns(columns).finish(),
            };
            frames.push(frame.map_err(|e| Error::from(e).with("file", file))?.lazy());
        }
        Ok(concat(frames, UnionArgs::default())?)
    }

    /// The columns of a lake table, of the records that were not set aside: those of this kind are matched by their place and the
    /// further columns.
    fn counting(&self, table: &str, columns: &[&str], kind: &str, further: &[&str]) -> Result<LazyFrame> {
        let place = [&["source", "source_line"][..], further].concat();
        let wanted: Vec<&str> =
            columns.iter().chain(place.iter().filter(|name| !columns.contains(name))).copied().collect();
        let aside =
            self.scan("set_aside", &[&["kind"][..], &place].concat())?.filter(col("kind").eq(lit(kind.to_owned())));
        Ok(join(self.scan(table, &wanted)?, aside, &place, JoinType::Anti))
    }

    /// A number among the parameters.
    fn number(&self, name: &str) -> Result<f64> {
        match self.plan.parameters.get(name) {
            Some(Parameter::Float(value)) => Ok(*value),
            Some(Parameter::Int(value)) => Ok(*value as f64),
            _ => Err(self.no_parameter(name)),
        }
    }

    /// A text among the parameters.
    fn text(&self, name: &str) -> Result<&str> {
        match self.plan.parameters.get(name) {
            Some(Parameter::Text(value)) => Ok(value),
            _ => Err(self.no_parameter(name)),
        }
    }

    fn no_parameter(&self, name: &str) -> Error {
        Error::new(
            ErrorKind::Config,
            format!("the pipeline lacks the parameter `{name}` that the dataset's scoring needs"),
        )
        .with("pipeline", &self.plan.name)
    }
}

fn cols(names: &[&str]) -> Vec<Expr> {
    names.iter().map(|name| col(*name)).collect()
}

fn count(expression: Expr, name: &str) -> Expr {
    expression.count().cast(DataType::Int64).alias(name)
}

/// Joins on columns of the same names.
fn join(left: LazyFrame, right: LazyFrame, on: &[&str], kind: JoinType) -> LazyFrame {
    left.join(right, cols(on), cols(on), JoinArgs::new(kind))
}

/// Models of the dataset and their names on boards, as a frame.
fn display_names(sources: &Sources<'_>) -> Result<LazyFrame> {
    let names = super::tables::display_names(sources.assets, &sources.plan.dataset.id)?;
    let (keys, shown): (Vec<_>, Vec<_>) = names.into_iter().unzip();
    let rows = keys.len();
    let columns =
        vec![Series::new("model".into(), keys).into_column(), Series::new("display_name".into(), shown).into_column()];
    Ok(DataFrame::new(rows, columns)?.lazy())
}

/// The rank among those that are eligible, 1-2-2-4.
fn rank(is_eligible: Expr, within: &[&str]) -> PolarsResult<Expr> {
    let ranked = when(is_eligible).then(col("overall")).otherwise(lit(NULL));
    let options = RankOptions { method: RankMethod::Min, descending: true };
    Ok(ranked.rank(options, None).over(cols(within))?.cast(DataType::Int64).alias("rank"))
}

/// A column's texts; null is empty.
fn texts(frame: &DataFrame, name: &str) -> PolarsResult<Vec<String>> {
    Ok(frame.column(name)?.str()?.iter().map(|text| text.map_or_else(String::new, str::to_owned)).collect())
}

/// A column's integers.
fn ints(frame: &DataFrame, name: &str) -> PolarsResult<Vec<Option<i64>>> {
    Ok(frame.column(name)?.i64()?.iter().collect())
}

/// A column's integers, of which none may be null.
fn whole(frame: &DataFrame, name: &str) -> Result<Vec<i64>> {
    let null = || Error::new(ErrorKind::Check, "a null where a number must be").with("column", name);
    frame.column(name)?.i64()?.iter().map(|value| value.ok_or_else(null)).collect()
}

/// A column's doubles.
fn floats(frame: &DataFrame, name: &str) -> PolarsResult<Vec<Option<f64>>> {
    Ok(frame.column(name)?.f64()?.iter().collect())
}

/// A column of texts.
fn text_column(name: &str, values: Vec<String>) -> Column {
    Series::new(name.into(), values).into_column()
}

/// A column of integers.
fn int_column(name: &str, values: Vec<Option<i64>>) -> Column {
    Series::new(name.into(), values).into_column()
}

/// A column of doubles.
fn float_column(name: &str, values: Vec<Option<f64>>) -> Column {
    Series::new(name.into(), values).into_column()
}

fn empty(schema: &TableSchema) -> PolarsResult<DataFrame> {
    let kind = |kind| match kind {
        ColumnType::Text => DataType::String,
        ColumnType::Bool => DataType::Boolean,
        ColumnType::Int32 => DataType::Int32,
        ColumnType::Int64 => DataType::Int64,
        ColumnType::Float64 => DataType::Float64,
    };
    let columns = schema.columns.iter();
    DataFrame::new(
        0,
        columns.map(|column| Column::new_empty(column.name.as_str().into(), &kind(column.column_type))).collect(),
    )
}

/// The schema's columns, sorted as its tables are.
fn in_order(frame: DataFrame, schema: &TableSchema) -> PolarsResult<DataFrame> {
    let options = SortMultipleOptions::default().with_nulls_last(true);
    let by: Vec<_> = schema.sort_columns().iter().map(String::as_str).collect();
    frame.select(schema.columns.iter().map(|column| column.name.as_str()))?.sort(by, options)
}

/// A frame of the schema's columns as an Arrow batch.
fn to_arrow(frame: &DataFrame, schema: &TableSchema) -> Result<RecordBatch> {
    let column = |name: &str, kind: ColumnType| -> PolarsResult<ArrayRef> {
        let column = frame.column(name)?;
        Ok(match kind {
            ColumnType::Text => Arc::new(column.str()?.iter().collect::<StringArray>()),
            ColumnType::Bool => Arc::new(column.bool()?.iter().collect::<BooleanArray>()),
            ColumnType::Int32 => Arc::new(column.i32()?.iter().collect::<Int32Array>()),
            ColumnType::Int64 => Arc::new(column.i64()?.iter().collect::<Int64Array>()),
            ColumnType::Float64 => Arc::new(column.f64()?.iter().collect::<Float64Array>()),
        })
    };
    let columns = schema.columns.iter().map(|wanted| column(&wanted.name, wanted.column_type));
    Ok(RecordBatch::try_new(schema.arrow(), columns.collect::<PolarsResult<_>>()?)?)
}
