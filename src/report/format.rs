//! The output formats of tables.

use std::io::Write;

use arrow::array::RecordBatch;
use arrow::csv::WriterBuilder as CsvWriterBuilder;
use arrow::datatypes::SchemaRef;
use arrow::json::WriterBuilder as JsonWriterBuilder;
use arrow::json::writer::{JsonArray, LineDelimited};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::table::{self, TableOptions};
use crate::error::{Error, ErrorKind, Result};

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// Aligned, two decimals.
    #[default]
    Table,
    /// Comma-separated, with a header; null is an empty field.
    Csv,
    /// Tab-separated, with a header; null is an empty field.
    Tsv,
    /// One array of objects; null and non-finite numbers are null.
    Json,
    /// One object a line.
    Ndjson,
    /// A Markdown table, two decimals.
    Markdown,
    /// A Parquet file.
    Parquet,
}

/// Writes all batches of one schema.
pub fn write_batches(
    out: &mut dyn Write,
    format: Format,
    schema: &SchemaRef,
    batches: &[RecordBatch],
    options: TableOptions,
) -> Result<()> {
    match format {
        Format::Table => text(out, &table::render(schema, batches, TableOptions { markdown: false, ..options })?),
        Format::Markdown => text(out, &table::render(schema, batches, TableOptions { markdown: true, ..options })?),
        Format::Csv => csv(out, b',', schema, batches),
        Format::Tsv => csv(out, b'\t', schema, batches),
        Format::Json => {
            let mut writer = JsonWriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(&mut *out);
            batches.iter().try_for_each(|batch| writer.write(batch))?;
            writer.finish()?;
            text(out, "\n")
        }
        Format::Ndjson => {
            let mut writer = JsonWriterBuilder::new().with_explicit_nulls(true).build::<_, LineDelimited>(out);
            batches.iter().try_for_each(|batch| writer.write(batch))?;
            Ok(writer.finish()?)
        }
        Format::Parquet => {
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
                .set_created_by("scorelake".into())
                .build();
            let mut bytes = Vec::new();
            let mut writer = ArrowWriter::try_new(&mut bytes, schema.clone(), Some(properties))?;
            batches.iter().try_for_each(|batch| writer.write(batch))?;
            writer.close()?;
            out.write_all(&bytes).map_err(stdout_error)
        }
    }
}

fn csv(out: &mut dyn Write, delimiter: u8, schema: &SchemaRef, batches: &[RecordBatch]) -> Result<()> {
    let mut writer = CsvWriterBuilder::new().with_header(true).with_delimiter(delimiter).build(out);
    if batches.is_empty() {
        writer.write(&RecordBatch::new_empty(schema.clone()))?;
    }
    batches.iter().try_for_each(|batch| writer.write(batch))?;
    Ok(())
}

fn text(out: &mut dyn Write, text: &str) -> Result<()> {
    out.write_all(text.as_bytes()).map_err(stdout_error)
}

fn stdout_error(e: std::io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot write the output: {e}")).caused_by(e)
}
