//! Rows of texts and counts, for commands that tell facts about scorelake itself.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use crate::cli::Session;
use crate::error::Result;
pub(super) use crate::report::chance;

/// A cell.
#[derive(Debug, Clone)]
pub(super) enum Cell {
    Text(String),
    Count(u64),
    Number(f64),
    Empty,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

/// Prints rows under these names; a column of counts or numbers is one of numbers in every format.
pub(super) fn print<const N: usize>(session: &Session, names: [&str; N], rows: &[[Cell; N]]) -> Result<()> {
    print_rows(session, &names, rows)
}

/// The same of rows whose length is not known beforehand.
pub(super) fn print_rows(session: &Session, names: &[&str], rows: &[impl AsRef<[Cell]>]) -> Result<()> {
    let (schema, batch) = table(names, rows)?;
    session.printer.rows(&schema, &[batch], false)
}

/// The same, without revisions and judges that are empty in every row.
pub(super) fn print_hiding(session: &Session, names: &[&str], rows: &[impl AsRef<[Cell]>]) -> Result<()> {
    let (schema, batch) = table(names, rows)?;
    session.printer.rows(&schema, &[batch], true)
}

/// Rows as a batch.
pub(super) fn table(names: &[&str], rows: &[impl AsRef<[Cell]>]) -> Result<(SchemaRef, RecordBatch)> {
    let rows: Vec<&[Cell]> = rows.iter().map(AsRef::as_ref).collect();
    let column = |at: usize| -> ArrayRef {
        let has = |is: fn(&Cell) -> bool| rows.iter().any(|row| is(&row[at]));
        if has(|cell| matches!(cell, Cell::Number(_))) {
            let number = |row: &&[Cell]| match row[at] {
                Cell::Number(number) => Some(number),
                _ => None,
            };
            return Arc::new(rows.iter().map(number).collect::<Float64Array>());
        }
        if has(|cell| matches!(cell, Cell::Count(_))) && !has(|cell| matches!(cell, Cell::Text(_))) {
            let count = |row: &&[Cell]| match row[at] {
                Cell::Count(count) => i64::try_from(count).ok(),
                _ => None,
            };
            return Arc::new(rows.iter().map(count).collect::<Int64Array>());
        }
        let text = |row: &&[Cell]| match &row[at] {
            Cell::Text(text) => Some(text.clone()),
            Cell::Count(count) => Some(count.to_string()),
            Cell::Number(number) => Some(number.to_string()),
            Cell::Empty => None,
        };
        Arc::new(rows.iter().map(text).collect::<StringArray>())
    };
    let columns: Vec<ArrayRef> = (0..names.len()).map(column).collect();
    let field = |(name, column): (&&str, &ArrayRef)| Field::new(*name, column.data_type().clone(), true);
    let fields: Vec<Field> = names.iter().zip(&columns).map(field).collect();
    let schema = Arc::new(Schema::new(if rows.is_empty() {
        names.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect()
    } else {
        fields
    }));
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns)?;
    Ok((schema, batch))
}
