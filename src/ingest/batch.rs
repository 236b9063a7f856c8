//! Builds a batch column by column against a table's schema.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanBuilder, Float64Builder, Int32Builder, Int64Builder, NullBufferBuilder, RecordBatch, StringArray,
};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};

use crate::error::{Error, ErrorKind, Result};
use crate::schema::{ColumnType, TableSchema};

/// Builders for the columns of a table; rows are appended cell by cell in column order.
pub(crate) struct TableBuilder<'s> {
    schema: &'s TableSchema,
    columns: Vec<ColumnBuilder>,
    next: usize,
}

enum ColumnBuilder {
    Text(TextColumn),
    Bool(BooleanBuilder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    Float64(Float64Builder),
}

/// Texts one after another.
struct TextColumn {
    values: Vec<u8>,
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

impl TextColumn {
    fn new() -> Self {
        // Never without memory: comparing empty texts at an address that is none is slow on processors that mask the fault,
        // and a column may hold nothing but empty texts.
        Self { values: Vec::with_capacity(1024), offsets: vec![0], nulls: NullBufferBuilder::new(0) }
    }

    fn append(&mut self, value: Option<&str>) -> Result<()> {
        match value {
            Some(text) => {
                self.values.extend_from_slice(text.as_bytes());
                self.nulls.append_non_null();
            }
            None => self.nulls.append_null(),
        }
        let end = i32::try_from(self.values.len()).map_err(|e| {
            Error::new(ErrorKind::Input, "the texts of one column of a segment are larger than 2 GiB")
                .hint("lower --max-line")
                .caused_by(e)
        })?;
        self.offsets.push(end);
        Ok(())
    }

    fn finish(mut self) -> Result<StringArray> {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        Ok(StringArray::try_new(offsets, Buffer::from_vec(self.values), self.nulls.finish())?)
    }
}

impl<'s> TableBuilder<'s> {
    pub(crate) fn new(schema: &'s TableSchema) -> Self {
        let builder = |kind| match kind {
            ColumnType::Text => ColumnBuilder::Text(TextColumn::new()),
            ColumnType::Bool => ColumnBuilder::Bool(BooleanBuilder::new()),
            ColumnType::Int32 => ColumnBuilder::Int32(Int32Builder::new()),
            ColumnType::Int64 => ColumnBuilder::Int64(Int64Builder::new()),
            ColumnType::Float64 => ColumnBuilder::Float64(Float64Builder::new()),
        };
        Self { columns: schema.columns.iter().map(|column| builder(column.column_type)).collect(), schema, next: 0 }
    }

    /// Makes room for so many rows with texts of a usual length, and for so many bytes in one column of long ones: growing step by
    /// step touches several times the memory.
    pub(crate) fn reserve(&mut self, rows: usize, long: Option<(&str, usize)>) {
        const USUAL: usize = 16;
        for (column, of) in self.columns.iter_mut().zip(&self.schema.columns) {
            if let ColumnBuilder::Text(column) = column {
                let bytes = long.filter(|(name, _)| *name == of.name).map_or(rows * USUAL, |(_, bytes)| bytes);
                column.values.reserve(bytes);
                column.offsets.reserve(rows);
            }
        }
    }

    fn column(&mut self) -> &mut ColumnBuilder {
        let at = self.next;
        self.next = if at + 1 == self.columns.len() { 0 } else { at + 1 };
        &mut self.columns[at]
    }

    /// The next cell, a text.
    pub(crate) fn text(&mut self, value: Option<&str>) -> Result<&mut Self> {
        match self.column() {
            ColumnBuilder::Text(column) => column.append(value)?,
            _ => return Err(self.misfit("text")),
        }
        Ok(self)
    }

    /// The next cell, a boolean.
    pub(crate) fn bool(&mut self, value: bool) -> Result<&mut Self> {
        match self.column() {
            ColumnBuilder::Bool(builder) => builder.append_value(value),
            _ => return Err(self.misfit("bool")),
        }
        Ok(self)
    }

    /// The next cell, a boolean or none.
    pub(crate) fn flag(&mut self, value: Option<bool>) -> Result<&mut Self> {
        match self.column() {
            ColumnBuilder::Bool(builder) => builder.append_option(value),
            _ => return Err(self.misfit("bool")),
        }
        Ok(self)
    }

    /// The next cell, a double.
    pub(crate) fn float(&mut self, value: Option<f64>) -> Result<&mut Self> {
        match self.column() {
            ColumnBuilder::Float64(builder) => builder.append_option(value),
            _ => return Err(self.misfit("a double")),
        }
        Ok(self)
    }

    /// The next cell, an integer.
    pub(crate) fn int(&mut self, value: Option<i64>) -> Result<&mut Self> {
        match self.column() {
            ColumnBuilder::Int64(builder) => builder.append_option(value),
            ColumnBuilder::Int32(builder) => builder.append_option(value.map(|value| value as i32)),
            _ => return Err(self.misfit("an integer")),
        }
        Ok(self)
    }

    fn misfit(&self, found: &str) -> Error {
        let at = (self.next + self.columns.len() - 1) % self.columns.len();
        Error::new(ErrorKind::Check, format!("the reader gives {found} where the schema has another type"))
            .with("table", &self.schema.table)
            .with("column", &self.schema.columns[at].name)
    }

    /// The batch; nulls where the schema has none are an error.
    pub(crate) fn finish(self) -> Result<RecordBatch> {
        let finish = |builder| -> Result<ArrayRef> {
            Ok(match builder {
                ColumnBuilder::Text(column) => Arc::new(column.finish()?),
                ColumnBuilder::Bool(mut builder) => Arc::new(builder.finish()),
                ColumnBuilder::Int32(mut builder) => Arc::new(builder.finish()),
                ColumnBuilder::Int64(mut builder) => Arc::new(builder.finish()),
                ColumnBuilder::Float64(mut builder) => Arc::new(builder.finish()),
            })
        };
        let columns = self.columns.into_iter().map(finish).collect::<Result<_>>()?;
        Ok(RecordBatch::try_new(self.schema.arrow(), columns)?)
    }
}
