//! Parquet with fixed settings: the same rows give the same bytes.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::error::{Error, ErrorKind, Result};
use crate::schema::{ColumnType, TableSchema};

/// Rows that are encoded at a time: page boundaries depend on it, so it is fixed.
const ROWS_AT_A_TIME: usize = 8192;
const ROWS_PER_GROUP: usize = 1 << 20;

/// How a table is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParquetSettings {
    /// zstd level.
    pub level: i32,
    /// A column of long texts, stored without dictionary or statistics.
    pub text_column: Option<&'static str>,
}

/// Writes one file of a table; rows may arrive in batches of any size.
pub(crate) struct PartWriter {
    writer: ArrowWriter<File>,
    schema: SchemaRef,
    path: PathBuf,
    pending: Vec<RecordBatch>,
    pending_rows: usize,
    rows: u64,
}

impl PartWriter {
    pub(crate) fn create(path: &Path, schema: &TableSchema, settings: ParquetSettings) -> Result<Self> {
        let level = ZstdLevel::try_new(settings.level)?;
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by("scorelake".into())
            .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
            .set_write_batch_size(1024)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_sorting_columns(Some(sorting_columns(schema)));
        if let Some(column) = settings.text_column {
            properties = properties
                .set_column_dictionary_enabled(ColumnPath::from(column), false)
                .set_column_statistics_enabled(ColumnPath::from(column), EnabledStatistics::None);
        }
        let file = File::create(path).map_err(|e| Error::io(path, "write", e))?;
        let options = ArrowWriterOptions::new().with_properties(properties.build()).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(file, schema.arrow(), options).map_err(|e| at(e, path))?;
        Ok(Self {
            writer,
            schema: schema.arrow(),
            path: path.to_path_buf(),
            pending: Vec::new(),
            pending_rows: 0,
            rows: 0,
        })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        self.pending.push(batch.clone());
        self.pending_rows += batch.num_rows();
        if self.pending_rows < ROWS_AT_A_TIME {
            return Ok(());
        }
        let all = concat_batches(&self.schema, &self.pending)?;
        let whole = all.num_rows() / ROWS_AT_A_TIME * ROWS_AT_A_TIME;
        for start in (0..whole).step_by(ROWS_AT_A_TIME) {
            self.writer.write(&all.slice(start, ROWS_AT_A_TIME)).map_err(|e| at(e, &self.path))?;
        }
        self.pending_rows = all.num_rows() - whole;
        self.pending = vec![all.slice(whole, self.pending_rows)];
        Ok(())
    }

    /// Ends the file and syncs it; gives the number of rows.
    pub(crate) fn finish(mut self) -> Result<u64> {
        let rest = concat_batches(&self.schema, &self.pending)?;
        if rest.num_rows() > 0 {
            self.writer.write(&rest).map_err(|e| at(e, &self.path))?;
        }
        let file = self.writer.into_inner().map_err(|e| at(e, &self.path))?;
        file.sync_data().map_err(|e| Error::io(&self.path, "write", e))?;
        Ok(self.rows)
    }
}

fn at(error: parquet::errors::ParquetError, path: &Path) -> Error {
    let error = Error::from(error).with("file", path.display());
    if error.kind() == ErrorKind::Io {
        return error.hint("check free space and permissions; what was published before is intact");
    }
    error
}

fn sorting_columns(schema: &TableSchema) -> Vec<SortingColumn> {
    let index = |name: &String| schema.columns.iter().position(|column| column.name == *name);
    schema
        .sort_columns()
        .iter()
        .filter_map(index)
        .map(|at| SortingColumn { column_idx: at as i32, descending: false, nulls_first: false })
        .collect()
}

/// Whether a whole file can be decoded.
pub(super) fn is_readable(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).and_then(ParquetRecordBatchReaderBuilder::build);
    reader.is_ok_and(|mut reader| reader.all(|batch| batch.is_ok()))
}

/// The column of long texts of a table, if it has one: too long for a dictionary.
pub(super) fn text_column(schema: &TableSchema) -> Option<&'static str> {
    ["text", "text_sha256"]
        .into_iter()
        .find(|name| schema.columns.iter().any(|column| column.name == *name && column.column_type == ColumnType::Text))
}
