//! Two engines' tables, cell by cell.

use std::collections::HashMap;
use std::fmt;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType, Float64Type};
use arrow::util::display::{ArrayFormatter, FormatOptions};

use super::OpinionTable;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::TableSchema;

/// Greatest difference of two doubles up to 100 that are one number; of larger ones in proportion. The engines round
/// differently, by far less than this.
const TOLERANCE: f64 = 1e-9;

/// The first place where two engines differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Table.
    pub table: String,
    /// Column; empty if a whole row is missing.
    pub column: String,
    /// The row, as `key=value, …`.
    pub row: String,
    /// What DataFusion says.
    pub datafusion: String,
    /// What Polars says.
    pub polars: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, column, row, datafusion, polars } = self;
        match column.as_str() {
            "" => write!(f, "{table}, row {row}: DataFusion {datafusion}, Polars {polars}"),
            _ => write!(f, "{table}.{column}, row {row}: DataFusion {datafusion}, Polars {polars}"),
        }
    }
}

/// Compares a table of DataFusion's with that of Polars, rows by their key; gives the first cell that differs.
pub fn compare(batches: &[RecordBatch], opinion: &OpinionTable) -> Result<Option<Difference>> {
    let OpinionTable { schema, batch: polars, .. } = opinion;
    let full = batches.first().map_or_else(|| schema.arrow(), RecordBatch::schema);
    let datafusion = concat_batches(&full, batches)?;
    let mut polars_rows: HashMap<String, usize> = HashMap::new();
    for row in 0..polars.num_rows() {
        let key = key(schema, polars, row)?;
        if polars_rows.insert(key.clone(), row).is_some() {
            return Ok(Some(Difference {
                table: schema.table.clone(),
                column: String::new(),
                row: key,
                datafusion: "has one at most".into(),
                polars: "has several".into(),
            }));
        }
    }
    let difference = |column: &str, row: String, datafusion: String, polars: String| {
        Ok(Some(Difference { table: schema.table.clone(), column: column.to_owned(), row, datafusion, polars }))
    };
    for row in 0..datafusion.num_rows() {
        let key = key(schema, &datafusion, row)?;
        let Some(other) = polars_rows.remove(&key) else {
            return difference("", key, "has it".into(), "has no such row".into());
        };
        for (at, column) in schema.columns.iter().enumerate() {
            let left = datafusion.column_by_name(&column.name).ok_or_else(|| {
                Error::new(ErrorKind::Config, "DataFusion's table lacks a column").with("column", &column.name)
            })?;
            let right = polars.column(at);
            let is_same = is_same(left, row, right, other)?
                || opinion.ranked_by.is_some_and(|by| by.rank == column.name && is_tied(polars, by.score, other));
            if !is_same {
                return difference(&column.name, key, shown(left, row)?, shown(right, other)?);
            }
        }
    }
    match polars_rows.into_keys().min() {
        Some(key) => difference("", key, "has no such row".into(), "has it".into()),
        None => Ok(None),
    }
}

fn key(schema: &TableSchema, batch: &RecordBatch, row: usize) -> Result<String> {
    let mut cells = Vec::new();
    for name in &schema.key {
        let column = batch.column_by_name(name).ok_or_else(|| {
            Error::new(ErrorKind::Config, "a column of the key is none of the table").with("column", name)
        })?;
        cells.push(format!("{name}={}", shown(column, row)?));
    }
    Ok(cells.join(", "))
}

/// Whether another row has the same score but for rounding: then the engines may order the two differently.
fn is_tied(batch: &RecordBatch, score: &str, row: usize) -> bool {
    let Some(scores) = batch.column_by_name(score).and_then(|column| column.as_primitive_opt::<Float64Type>()) else {
        return false;
    };
    let others = scores.iter().enumerate().filter(|(other, _)| *other != row);
    scores.is_valid(row) && others.flat_map(|(_, other)| other).any(|other| is_close(other, scores.value(row)))
}

fn is_close(left: f64, right: f64) -> bool {
    let scale = (left.abs().max(right.abs()) / 100.0).max(1.0);
    left == right || (left - right).abs() <= TOLERANCE * scale
}

fn is_same(left: &dyn Array, row: usize, right: &dyn Array, other: usize) -> Result<bool> {
    if left.is_null(row) || right.is_null(other) {
        return Ok(left.is_null(row) && right.is_null(other));
    }
    if *left.data_type() == DataType::Float64 {
        let (left, right) =
            (left.as_primitive::<Float64Type>().value(row), right.as_primitive::<Float64Type>().value(other));
        return Ok(is_close(left, right));
    }
    Ok(shown(left, row)? == shown(right, other)?)
}

fn shown(column: &dyn Array, row: usize) -> Result<String> {
    let options = FormatOptions::default().with_null("null");
    Ok(ArrayFormatter::try_new(column, &options)?.value(row).to_string())
}
