//! Parquet with fixed settings: the same rows give the same bytes.

use std::cmp::Ordering;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray, make_comparator};
use arrow::buffer::Buffer;
use arrow::compute::{SortOptions, concat_batches};
use arrow::datatypes::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use crate::error::{Error, ErrorKind, Result};
use crate::schema::{ColumnType, Encoding, TableSchema};
use crate::store;

/// Rows that are encoded at a time: page boundaries depend on it, so it is fixed.
const ROWS_AT_A_TIME: usize = 8192;
const ROWS_PER_GROUP: usize = 1 << 20;

/// Writes one file of a table; rows may arrive in batches of any size, in the table's order, no two with the same place in it.
pub(crate) struct PartWriter {
    writer: ArrowWriter<File>,
    schema: SchemaRef,
    table: String,
    order: Vec<usize>,
    path: PathBuf,
    pending: Vec<RecordBatch>,
    pending_rows: usize,
    rows: u64,
    last: Option<RecordBatch>,
}

impl PartWriter {
    pub(crate) fn create(path: &Path, schema: &TableSchema, level: i32) -> Result<Self> {
        let level = ZstdLevel::try_new(level)?;
        let order = sort_columns(schema);
        let sorting =
            order.iter().map(|at| SortingColumn { column_idx: *at as i32, descending: false, nulls_first: false });
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(level))
            .set_created_by("scorelake".into())
            .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
            .set_write_batch_size(1024)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_sorting_columns(Some(sorting.collect()));
        for (at, column) in schema.columns.iter().enumerate() {
            let path = ColumnPath::from(column.name.as_str());
            if column.encoding == Encoding::Plain {
                properties = properties.set_column_dictionary_enabled(path.clone(), false);
            }
            // Texts that the rows are not sorted by first are all over every row group: their bounds would cost two comparisons a
            // row and never rule anything out.
            if column.column_type == ColumnType::Text && order.first() != Some(&at) {
                properties = properties.set_column_statistics_enabled(path, EnabledStatistics::None);
            }
        }
        let file = File::create(path).map_err(|e| Error::io(path, "write", e))?;
        let options = ArrowWriterOptions::new().with_properties(properties.build()).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(file, schema.arrow(), options).map_err(|e| at(e, path))?;
        Ok(Self {
            writer,
            schema: schema.arrow(),
            table: schema.table.clone(),
            order,
            path: path.to_path_buf(),
            pending: Vec::new(),
            pending_rows: 0,
            rows: 0,
            last: None,
        })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let batch = &with_memory(batch)?;
        self.require_order(batch)?;
        self.rows += batch.num_rows() as u64;
        self.pending.push(batch.clone());
        self.pending_rows += batch.num_rows();
        if self.pending_rows < ROWS_AT_A_TIME {
            return Ok(());
        }
        let all = with_memory(&concat_batches(&self.schema, &self.pending)?)?;
        let whole = all.num_rows() / ROWS_AT_A_TIME * ROWS_AT_A_TIME;
        for start in (0..whole).step_by(ROWS_AT_A_TIME) {
            self.writer.write(&all.slice(start, ROWS_AT_A_TIME)).map_err(|e| at(e, &self.path))?;
        }
        self.pending_rows = all.num_rows() - whole;
        self.pending = vec![all.slice(whole, self.pending_rows)];
        Ok(())
    }

    /// The engine trusts the declared order, and a key that repeats is a wrong join: neither may be written.
    fn require_order(&mut self, batch: &RecordBatch) -> Result<()> {
        let before = self.last.replace(batch.slice(batch.num_rows() - 1, 1));
        let joint = match before {
            Some(before) => concat_batches(&self.schema, [&before, &batch.slice(0, 1)])?,
            None => batch.slice(0, 0),
        };
        for rows in [&joint, batch] {
            let columns = self.order.iter().map(|at| rows.column(*at));
            let options = SortOptions { descending: false, nulls_first: false };
            let compare = columns
                .map(|column| make_comparator(column.as_ref(), column.as_ref(), options))
                .collect::<Result<Vec<_>, _>>()?;
            for row in 1..rows.num_rows() {
                let order = compare.iter().map(|compare| compare(row - 1, row)).find(|order| order.is_ne());
                if order != Some(Ordering::Less) {
                    let what = if order.is_none() { "two rows with one key" } else { "rows out of order" };
                    let key: Vec<_> = self.order.iter().map(|at| cell(rows.column(*at), row)).collect::<Result<_>>()?;
                    return Err(Error::new(ErrorKind::Check, format!("{what} where a table is written"))
                        .with("table", &self.table)
                        .with("key", key.join(", ")));
                }
            }
        }
        Ok(())
    }

    /// Ends the file and syncs it; gives the number of rows.
    pub(crate) fn finish(mut self) -> Result<u64> {
        let rest = with_memory(&concat_batches(&self.schema, &self.pending)?)?;
        if rest.num_rows() > 0 {
            self.writer.write(&rest).map_err(|e| at(e, &self.path))?;
        }
        let file = self.writer.into_inner().map_err(|e| at(e, &self.path))?;
        file.sync_data().map_err(|e| Error::io(&self.path, "write", e))?;
        Ok(self.rows)
    }
}

/// The same rows, columns of nothing but empty texts at an address that is one: comparing them, and hashing, is slow by a factor
/// of a hundred where processors mask the fault of reading from none.
fn with_memory(batch: &RecordBatch) -> Result<RecordBatch> {
    let column = |column: &ArrayRef| -> Result<ArrayRef> {
        match column.as_string_opt::<i32>() {
            Some(texts) if texts.value_data().is_empty() && !texts.is_empty() => {
                let buffer = Buffer::from_vec(Vec::<u8>::with_capacity(64));
                Ok(Arc::new(StringArray::try_new(texts.offsets().clone(), buffer, texts.nulls().cloned())?))
            }
            _ => Ok(Arc::clone(column)),
        }
    };
    let columns = batch.columns().iter().map(column).collect::<Result<Vec<_>>>()?;
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

fn cell(column: &dyn Array, row: usize) -> Result<String> {
    Ok(arrow::util::display::array_value_to_string(column, row)?)
}

fn at(error: parquet::errors::ParquetError, path: &Path) -> Error {
    let error = Error::from(error).with("file", path.display());
    if error.kind() == ErrorKind::Io {
        return error.hint("check free space and permissions; what was published before is intact");
    }
    error
}

fn sort_columns(schema: &TableSchema) -> Vec<usize> {
    let index = |name: &String| schema.columns.iter().position(|column| column.name == *name);
    schema.sort_columns().iter().filter_map(index).collect()
}

/// Whether a whole file can be decoded.
pub(super) fn is_readable(file: &store::File) -> bool {
    let Ok(chunks) = file.chunks() else { return false };
    let reader = ParquetRecordBatchReaderBuilder::try_new(chunks).and_then(ParquetRecordBatchReaderBuilder::build);
    reader.is_ok_and(|mut reader| reader.all(|batch| batch.is_ok()))
}
