//! Whether a published table is consistent in itself: macro means, F1 from precision and recall, shares that some k of n gives, totals
//! that close, overall scores between their pillars, ranks in the order of scores. The checks are SQL in `sql/consistency/`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{Field, Schema};

use super::{Printed, PublishedTable};
use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::grid::{Datum, Grid};
use crate::lake::session::{Engine, EngineOptions};
use crate::pipeline::{Output, SqlFile};
use crate::score::register_published;

/// The schema in which a check sees the table, as `published`.
const SCHEMA: &str = "table_alone";

/// A figure that cannot be.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The check.
    pub check: String,
    /// The row.
    pub row: String,
    /// The column.
    pub column: String,
    /// The figure as printed.
    pub printed: f64,
    /// What it could be at least, by the other figures and their last digits.
    pub low: Option<f64>,
    /// What it could be at most.
    pub high: Option<f64>,
}

/// What one check said of a table.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Name of the check.
    pub check: String,
    /// What it asks.
    pub question: String,
    /// Figures looked at.
    pub figures: usize,
    /// Those that cannot be.
    pub faults: Vec<Fault>,
}

/// Runs every check whose columns the table has; says which could not be run.
pub fn check(assets: &Assets, options: EngineOptions, table: &PublishedTable) -> Result<(Vec<Checked>, Vec<String>)> {
    let engine = Engine::new(assets, options, SCHEMA)?;
    register_published(assets, &engine)?;
    let batch = numbers(table)?;
    let halves: Vec<String> = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    let mut skipped = Vec::new();
    engine.register_batches(SCHEMA, "published", batch.schema(), vec![batch])?;
    let mut all = Vec::new();
    for path in assets.list("sql/consistency", "sql")? {
        let sql = SqlFile::parse(&path, assets.text(&path)?)?;
        let invalid = |message: &str| Error::new(ErrorKind::Config, message).with("file", &path);
        if sql.output != Output::Consistency {
            return Err(invalid("a check of published tables needs `-- output: consistency`"));
        }
        let needs = sql.text.lines().find_map(|line| line.strip_prefix("-- needs: "));
        let needs = needs.ok_or_else(|| invalid("it lacks the line `-- needs: column, column, …`"))?;
        if !needs.split(',').all(|column| table.columns.iter().any(|own| own == column.trim())) {
            continue;
        }
        let is_used = |column: &str| sql.text.contains(&format!("{column}_half"));
        let lacks = needs
            .split(',')
            .map(str::trim)
            .find(|column| is_used(column) && !halves.contains(&format!("{column}_half")));
        if let Some(column) = lacks {
            skipped.push(format!("{}: the column {column} holds no numbers", sql.name));
            continue;
        }
        let batches = engine.query(&sql.text).map_err(|e| e.with("file", &path))?;
        let rows = Grid::of(batches.into_iter().map(Ok))?.rows;
        let fault = |row: &std::collections::BTreeMap<String, Datum>| -> Option<Fault> {
            let number = |name: &str| row.get(name).and_then(Datum::number);
            let text = |name: &str| row.get(name).map(Datum::text).unwrap_or_default();
            let (printed, low, high) = (number("printed")?, number("low"), number("high"));
            // Nothing can be below `low` or above `high`; both empty means that nothing at all gives the figure.
            let is_possible = match (low, high) {
                (None, None) => false,
                (low, high) => low.is_none_or(|low| printed >= low) && high.is_none_or(|high| printed <= high),
            };
            let fault = Fault { check: sql.name.clone(), row: text("row"), column: text("figure"), printed, low, high };
            (!is_possible).then_some(fault)
        };
        all.push(Checked {
            check: sql.name.clone(),
            question: sql.question.clone(),
            figures: rows.len(),
            faults: rows.iter().filter_map(fault).collect(),
        });
    }
    Ok((all, skipped))
}

/// The table with numbers where every cell of a column that has text is one, and beside each, as `<column>_half`, half a unit of its last digit.
fn numbers(table: &PublishedTable) -> Result<RecordBatch> {
    let mut fields =
        vec![("line".to_owned(), Arc::new(Int64Array::from_iter_values(1..=table.rows.len() as i64)) as ArrayRef)];
    for (place, column) in table.columns.iter().enumerate() {
        let texts = || table.rows.iter().map(move |row| row.get(place).map_or("", |text| text.trim()));
        let printed: Vec<Option<Printed>> = texts().map(Printed::parse).collect();
        // Numbers, but for a few cells that say that there is none.
        let filled = texts().filter(|text| !text.is_empty()).count();
        if 2 * printed.iter().flatten().count() >= filled {
            let values: Float64Array = printed.iter().map(|printed| printed.map(|printed| printed.value)).collect();
            let halves: Float64Array = printed.iter().map(|printed| printed.map(|printed| printed.half)).collect();
            fields.push((column.clone(), Arc::new(values)));
            fields.push((format!("{column}_half"), Arc::new(halves)));
        } else {
            fields.push((column.clone(), Arc::new(texts().map(Some).collect::<StringArray>())));
        }
    }
    let schema = Schema::new(
        fields.iter().map(|(name, column)| Field::new(name, column.data_type().clone(), true)).collect::<Vec<_>>(),
    );
    Ok(RecordBatch::try_new(Arc::new(schema), fields.into_iter().map(|(_, column)| column).collect())?)
}
