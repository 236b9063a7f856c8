//! Table schemas: `schemas/<dataset>/<table>.toml`, read by ingest, scoring, snapshots and `scorelake schema`.
//!
//! The files are the only place that says what a table holds; code that builds or reads a table asks here.

pub mod dataset;
pub mod taxonomy;

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use serde::{Deserialize, Serialize};

use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};

/// Whether a table is filled by ingest or by scoring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableKind {
    /// Filled by ingest.
    Lake,
    /// Filled by scoring.
    Result,
    /// Published figures, in `data/published/`.
    Published,
}

/// The types that tables may have: those that every Parquet reader knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnType {
    /// UTF-8 text.
    Text,
    /// true or false.
    Bool,
    /// 32-bit integer.
    Int32,
    /// 64-bit integer.
    Int64,
    /// 64-bit IEEE 754 number.
    Float64,
}

impl ColumnType {
    /// The Arrow type.
    pub fn arrow(self) -> DataType {
        match self {
            Self::Text => DataType::Utf8,
            Self::Bool => DataType::Boolean,
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::Float64 => DataType::Float64,
        }
    }

    /// The name used in the files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Bool => "bool",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Float64 => "float64",
        }
    }
}

/// One column.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// Name, without need of quotes in SQL.
    pub name: String,
    /// Type.
    #[serde(rename = "type")]
    pub column_type: ColumnType,
    /// Whether null occurs.
    #[serde(default)]
    pub nullable: bool,
    /// What it holds.
    pub meaning: String,
    /// Unit of numbers.
    #[serde(default)]
    pub unit: Option<String>,
    /// How it is stored.
    #[serde(default)]
    pub encoding: Encoding,
}

/// How a column is stored in Parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// With a dictionary: values repeat.
    #[default]
    Dictionary,
    /// As they are, without statistics: texts that hardly repeat.
    Plain,
}

/// One table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSchema {
    /// Dataset id.
    pub dataset: String,
    /// Table name.
    pub table: String,
    /// Who fills it.
    pub kind: TableKind,
    /// What one row is.
    pub grain: String,
    /// Columns that identify a row.
    pub key: Vec<String>,
    /// Columns by which files are sorted, ascending, nulls last; the key if absent.
    #[serde(default)]
    pub order: Vec<String>,
    /// The columns.
    #[serde(rename = "column")]
    pub columns: Vec<Column>,
}

impl TableSchema {
    /// Reads `schemas/<dataset>/<table>.toml`.
    pub fn load(assets: &Assets, dataset: &str, table: &str) -> Result<Self> {
        Self::load_path(assets, &format!("schemas/{dataset}/{table}.toml"))
    }

    fn load_path(assets: &Assets, path: &str) -> Result<Self> {
        let invalid = |message: String| Error::new(ErrorKind::Config, message).with("file", path);
        let schema: Self = toml::from_str(&assets.text(path)?).map_err(|e| invalid(e.to_string()).caused_by(e))?;
        if path != format!("schemas/{}/{}.toml", schema.dataset, schema.table) {
            return Err(invalid(format!("the file describes {}/{}", schema.dataset, schema.table)));
        }
        for name in schema.key.iter().chain(&schema.order) {
            if !schema.columns.iter().any(|column| column.name == *name) {
                return Err(invalid(format!("key or order names a column `{name}` that the table does not have")));
            }
        }
        Ok(schema)
    }

    /// All tables of a dataset, by name.
    pub fn load_all(assets: &Assets, dataset: &str) -> Result<Vec<Self>> {
        assets.list(&format!("schemas/{dataset}"), "toml")?.iter().map(|path| Self::load_path(assets, path)).collect()
    }

    /// The columns by which files are sorted.
    pub fn sort_columns(&self) -> &[String] {
        if self.order.is_empty() { &self.key } else { &self.order }
    }

    /// The Arrow schema.
    pub fn arrow(&self) -> SchemaRef {
        let field = |column: &Column| Field::new(&column.name, column.column_type.arrow(), column.nullable);
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }
}
