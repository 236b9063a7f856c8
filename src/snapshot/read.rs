//! Reading a table of a snapshot, batch by batch.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};

use crate::error::{Error, ErrorKind, Result};
use crate::schema::TableSchema;

/// The rows of a result table in order, in batches.
pub struct Rows {
    /// The table's columns.
    pub schema: SchemaRef,
    /// Rows in all.
    pub total: usize,
    path: PathBuf,
    reader: ParquetRecordBatchReader,
}

impl Rows {
    /// Opens a table's file; at most `limit` rows are given.
    pub fn open(path: &Path, schema: &TableSchema, limit: usize) -> Result<Self> {
        let schema = schema.arrow();
        let at = |e: parquet::errors::ParquetError| Error::from(e).with("file", path.display());
        let file = File::open(path).map_err(|e| Error::io(path, "open", e))?;
        let options = ArrowReaderOptions::new().with_schema(schema.clone());
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options).map_err(at)?;
        let total = usize::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(usize::MAX);
        let reader = builder.with_limit(limit).build().map_err(at)?;
        Ok(Self { schema, total, path: path.to_path_buf(), reader })
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let corrupt = |e: arrow::error::ArrowError| {
            Error::new(ErrorKind::Corrupt, format!("corrupt Parquet file: {e}"))
                .with("file", self.path.display())
                .caused_by(e)
        };
        self.reader.next().map(|batch| batch.map_err(corrupt))
    }
}
