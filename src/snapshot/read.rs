//! Reading a table of a snapshot, batch by batch.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use crate::error::{Error, ErrorKind, Result};
use crate::schema::TableSchema;
use crate::store::{Failure, File};

/// The rows of a result table in order, in batches.
pub struct Rows {
    /// The table's columns.
    pub schema: SchemaRef,
    /// Rows in all.
    pub total: usize,
    file: File,
    failure: Failure,
    reader: ParquetRecordBatchReader,
}

impl Rows {
    /// Opens a table's file; at most `limit` rows are given.
    pub fn open(file: &File, schema: &TableSchema, limit: usize) -> Result<Self> {
        let schema = schema.arrow();
        let at = |e: parquet::errors::ParquetError| Error::from(e).with("file", file);
        let chunks = file.chunks()?;
        let failure = chunks.failure();
        let at = |e: parquet::errors::ParquetError| failure.take().unwrap_or_else(|| at(e));
        let options = ArrowReaderOptions::new().with_schema(schema.clone());
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(chunks, options).map_err(at)?;
        let total = usize::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(usize::MAX);
        let reader = builder.with_limit(limit).build().map_err(at)?;
        Ok(Self { schema, total, file: file.clone(), failure, reader })
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let corrupt = |e: arrow::error::ArrowError| {
            Error::new(ErrorKind::Corrupt, format!("corrupt Parquet file: {e}")).with("file", &self.file).caused_by(e)
        };
        self.reader.next().map(|batch| batch.map_err(|e| self.failure.take().unwrap_or_else(|| corrupt(e))))
    }
}
