//! Every table as CSV, a file each, or all of them as one JSON document.

use std::io::Write;

use arrow::array::{Array, AsArray, RecordBatch, StringArray};
use arrow::csv::WriterBuilder;
use arrow::datatypes::{DataType, SchemaRef};
use arrow::json::WriterBuilder as JsonWriterBuilder;
use arrow::json::writer::JsonArray;
use serde_json::json;
use std::sync::Arc;

use super::{Exported, Target};
use crate::error::{Error, ErrorKind, Result};
use crate::snapshot::Snapshot;

/// `<table>.csv` in a folder, in full precision; null is an empty field. With `for_spreadsheets`, a text that a spreadsheet
/// would take for a formula gets an apostrophe in front, and how many did is noted; without, every text is as it is.
pub fn csv(snapshot: &Snapshot, target: Target<'_>, for_spreadsheets: bool) -> Result<Exported> {
    let mut exported = Exported::default();
    let mut guarded = 0;
    let path = |name: &str| target.file(&format!("{name}.csv"));
    target.require_free(&snapshot.manifest.tables.iter().map(|table| path(&table.name)).collect::<Vec<_>>())?;
    for table in &snapshot.manifest.tables {
        let path = path(&table.name);
        target.write(&path, |out| {
            let rows = snapshot.rows(&table.name, usize::MAX)?;
            let schema = rows.schema.clone();
            let mut writer = WriterBuilder::new().with_header(true).build(out);
            writer.write(&RecordBatch::new_empty(schema.clone()))?;
            for batch in rows {
                let batch = batch?;
                let batch = if for_spreadsheets { guard(&batch, &schema, &mut guarded)? } else { batch };
                writer.write(&batch)?;
            }
            Ok(())
        })?;
        exported.files.push(path);
    }
    if guarded > 0 {
        exported.notes.push(format!("{guarded} texts begin like a formula and got an apostrophe in front"));
    }
    Ok(exported)
}

/// Texts that begin like a formula, with an apostrophe in front.
fn guard(batch: &RecordBatch, schema: &SchemaRef, guarded: &mut u64) -> Result<RecordBatch> {
    let columns = batch.columns().iter().map(|column| {
        if *column.data_type() != DataType::Utf8 {
            return column.clone();
        }
        let texts = column.as_string::<i32>().iter().map(|text| {
            text.map(|text| {
                let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
                *guarded += u64::from(is_formula);
                if is_formula { format!("'{text}") } else { text.to_owned() }
            })
        });
        Arc::new(texts.collect::<StringArray>())
    });
    let columns = columns.collect();
    Ok(RecordBatch::try_new(schema.clone(), columns)?)
}

/// One document: `{"snapshot": {…}, "tables": {"<table>": [{column: value, …}, …], …}}`.
pub fn json(snapshot: &Snapshot, target: Target<'_>) -> Result<Exported> {
    let io = |e: std::io::Error| Error::new(ErrorKind::Io, format!("cannot write the export: {e}")).caused_by(e);
    target.write(target.path, |out| {
        let manifest = &snapshot.manifest;
        let about = json!({
            "id": manifest.id, "dataset": manifest.dataset, "protocol": manifest.protocol,
            "parameters": manifest.parameters, "status": manifest.status, "tool": manifest.tool,
        });
        write!(out, "{{\"snapshot\":{about},\"tables\":{{").map_err(io)?;
        for (place, table) in manifest.tables.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            write!(out, "{comma}\n\"{}\":", table.name).map_err(io)?;
            let mut writer = JsonWriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(&mut *out);
            for batch in snapshot.rows(&table.name, usize::MAX)? {
                writer.write(&batch?)?;
            }
            writer.finish()?;
        }
        writeln!(out, "}}}}").map_err(io)
    })?;
    Ok(Exported { files: vec![target.path.to_path_buf()], notes: Vec::new() })
}
