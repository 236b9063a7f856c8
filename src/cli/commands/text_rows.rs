//! Rows of texts, for commands that tell facts about scorelake itself.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};

use crate::cli::Session;
use crate::error::Result;

/// Prints rows of texts under these names.
pub(super) fn print<const N: usize>(session: &Session, names: [&str; N], rows: &[[Option<String>; N]]) -> Result<()> {
    let fields: Vec<_> = names.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect();
    let column =
        |at: usize| -> ArrayRef { Arc::new(rows.iter().map(|row| row[at].as_deref()).collect::<StringArray>()) };
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), (0..N).map(column).collect())?;
    session.printer.rows(&schema, &[batch], false)
}
