//! Small tables as rows of named values.

use std::collections::BTreeMap;

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};

use crate::error::Result;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Datum {
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
    /// Nothing.
    Null,
}

impl Datum {
    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) | Self::Null => None,
        }
    }

    /// As a text; empty for nothing.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
            Self::Null => String::new(),
        }
    }
}

/// Rows of named values.
#[derive(Debug, Clone, Default)]
pub struct Grid {
    /// The rows.
    pub rows: Vec<BTreeMap<String, Datum>>,
}

impl Grid {
    /// Takes the rows of batches.
    pub fn of(batches: impl IntoIterator<Item = Result<RecordBatch>>) -> Result<Self> {
        let mut rows = Vec::new();
        for batch in batches {
            let batch = batch?;
            let start = rows.len();
            rows.resize(start + batch.num_rows(), BTreeMap::new());
            for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
                let is_number = column.data_type().is_numeric();
                let column = cast(column, if is_number { &DataType::Float64 } else { &DataType::Utf8 })?;
                for (at, row) in rows[start..].iter_mut().enumerate() {
                    let datum = match (column.is_null(at), is_number) {
                        (true, _) => Datum::Null,
                        (false, true) => Datum::Number(column.as_primitive::<Float64Type>().value(at)),
                        (false, false) => Datum::Text(column.as_string::<i32>().value(at).to_owned()),
                    };
                    row.insert(field.name().clone(), datum);
                }
            }
        }
        Ok(Self { rows })
    }
}
