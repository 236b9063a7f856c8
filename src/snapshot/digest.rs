//! The canonical encoding of rows that snapshot ids are made of.
//!
//! A table's digest is SHA-256 over its name, its columns (name, type, nullability) and its rows in order. A cell is one byte
//! 0 for null, else 1 and the value: booleans one byte, integers 8 bytes, doubles the 8 bytes of their bits (one NaN, one
//! zero), texts 8 bytes of length and UTF-8. Numbers are little-endian. Nothing of Parquet is in it.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{Float64Type, Int32Type, Int64Type};
use sha2::{Digest, Sha256};

use super::read::Rows;
use crate::error::Result;
use crate::schema::{ColumnType, TableSchema};
use crate::source::hex;
use crate::store::File;

/// The digest of a table's file, and its rows.
pub fn table(file: &File, schema: &TableSchema) -> Result<(String, u64)> {
    let mut sha256 = Sha256::new();
    sha256.update(format!("scorelake rows 1\n{}\n", schema.table));
    for column in &schema.columns {
        sha256.update(format!("{} {} {}\n", column.name, column.column_type.name(), column.nullable));
    }
    let mut rows = 0;
    let mut bytes = Vec::new();
    for batch in Rows::open(file, schema, usize::MAX)? {
        let batch = batch?;
        rows += batch.num_rows() as u64;
        for row in 0..batch.num_rows() {
            bytes.clear();
            encode_row(&batch, schema, row, &mut bytes);
            sha256.update(&bytes);
        }
    }
    Ok((hex(&sha256.finalize()), rows))
}

fn encode_row(batch: &RecordBatch, schema: &TableSchema, row: usize, out: &mut Vec<u8>) {
    for (array, column) in batch.columns().iter().zip(&schema.columns) {
        if array.is_null(row) {
            out.push(0);
            continue;
        }
        out.push(1);
        match column.column_type {
            ColumnType::Bool => out.push(u8::from(array.as_boolean().value(row))),
            ColumnType::Int32 => out.extend(i64::from(array.as_primitive::<Int32Type>().value(row)).to_le_bytes()),
            ColumnType::Int64 => out.extend(array.as_primitive::<Int64Type>().value(row).to_le_bytes()),
            ColumnType::Float64 => out.extend(float_bits(array.as_primitive::<Float64Type>().value(row)).to_le_bytes()),
            ColumnType::Text => {
                let text = array.as_string::<i32>().value(row);
                out.extend((text.len() as u64).to_le_bytes());
                out.extend(text.as_bytes());
            }
        }
    }
}

fn float_bits(value: f64) -> u64 {
    if value.is_nan() {
        f64::NAN.to_bits()
    } else if value == 0.0 {
        0
    } else {
        value.to_bits()
    }
}
