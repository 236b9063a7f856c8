//! `manifest.json` of a snapshot: what it holds, how it was made, and from what.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::MANIFEST;
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::{Form, Ids, Notes, Provenance, SourceOptions};
use crate::lake::require_format;
use crate::pipeline::{Parameter, PlannedIntervals};
use crate::schema::{Column, ColumnType, Encoding, TableKind, TableSchema};
use crate::score::Finding;
use crate::source::hex;
use crate::store::{self, File, Folder};

/// A result table of a snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotTable {
    /// Name.
    pub name: String,
    /// File in the snapshot's folder.
    pub file: String,
    /// Rows.
    pub rows: u64,
    /// Size of the file.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub sha256: String,
    /// SHA-256 of the canonical encoding of its rows.
    pub rows_sha256: String,
    /// Columns that identify a row.
    pub key: Vec<String>,
    /// Columns by which the rows are sorted.
    pub order: Vec<String>,
    /// Its columns, in order.
    pub columns: Vec<SnapshotColumn>,
}

/// A column of a result table: a snapshot stays readable when the schemas of a later version change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotColumn {
    /// Name.
    pub name: String,
    /// Type.
    #[serde(rename = "type")]
    pub column_type: ColumnType,
    /// Whether null occurs.
    pub nullable: bool,
}

impl SnapshotTable {
    /// The schema it was written with.
    pub fn schema(&self, dataset: &str) -> TableSchema {
        let column = |column: &SnapshotColumn| Column {
            name: column.name.clone(),
            column_type: column.column_type,
            nullable: column.nullable,
            meaning: String::new(),
            unit: None,
            encoding: Encoding::default(),
        };
        TableSchema {
            dataset: dataset.into(),
            table: self.name.clone(),
            kind: TableKind::Result,
            grain: String::new(),
            key: self.key.clone(),
            order: self.order.clone(),
            columns: self.columns.iter().map(column).collect(),
        }
    }
}

/// A source that was scored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Where it was read from.
    pub uris: Vec<String>,
    /// Size.
    pub size: u64,
    /// The commit of the repository that it was fetched at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// SHA-256 of the file as stored.
    pub sha256: String,
    /// Records.
    pub records: u64,
    /// Of those, rejected.
    pub rejected: u64,
    /// Identity of the reader: its version and the rubric it read by.
    pub reader: String,
    /// What was said about it at ingest.
    pub options: SourceOptions,
    /// Its form.
    #[serde(default, skip_serializing_if = "Form::is_wide")]
    pub form: Form,
    /// IDs of the prompts it is about.
    #[serde(default, skip_serializing_if = "Ids::is_empty")]
    pub ids: Ids,
    /// How its images and replies were made, as told at ingest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// What its reader met.
    #[serde(default, skip_serializing_if = "Notes::is_empty")]
    pub notes: Notes,
}

/// The manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotManifest {
    /// Version of this form.
    pub format: u32,
    /// Digest of the tables' rows and schemas, the protocol and the parameters.
    pub id: String,
    /// Dataset id.
    pub dataset: String,
    /// Protocol.
    pub protocol: String,
    /// Values of the parameters.
    pub parameters: BTreeMap<String, Parameter>,
    /// Whether the parameters are the pipeline's own.
    pub is_default: bool,
    /// Version of the metric.
    pub metric_version: u32,
    /// complete, or partial if records were rejected or IDs had no metadata.
    pub status: String,
    /// Tool and version.
    pub tool: String,
    /// Pipeline name.
    pub pipeline: String,
    /// SHA-256 of the pipeline's text.
    pub pipeline_sha256: String,
    /// SHA-256 of each SQL file.
    pub sql_sha256: BTreeMap<String, String>,
    /// Which intervals were made, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intervals: Option<PlannedIntervals>,
    /// The tables.
    pub tables: Vec<SnapshotTable>,
    /// Rows of the ledger of level `all`.
    pub ledger: Vec<Value>,
    /// What a reader should know.
    pub findings: Vec<Finding>,
    /// What was scored.
    pub inputs: Vec<Input>,
    /// SHA-256 of this file with this field empty.
    #[serde(default)]
    pub manifest_sha256: String,
}

const FORMAT: u32 = 1;

impl SnapshotManifest {
    /// Version of the form written by this code.
    pub const FORMAT: u32 = FORMAT;

    /// The id that follows from the tables, protocol and parameters; 128 bits in hexadecimal.
    pub fn compute_id(&self) -> String {
        let tables: BTreeMap<_, _> = self.tables.iter().map(|table| (&table.name, &table.rows_sha256)).collect();
        let identity = json!({
            "dataset": self.dataset,
            "parameters": self.parameters,
            "protocol": self.protocol,
            "scorelake": "snapshot 1",
            "tables": tables,
        });
        hex(&Sha256::digest(identity.to_string().as_bytes())[..16])
    }

    /// The manifest's text, its own digest filled in.
    pub(crate) fn to_text(&self) -> Result<String> {
        let text = |manifest: &Self| {
            serde_json::to_string_pretty(manifest)
                .map(|text| text + "\n")
                .map_err(|e| Error::new(ErrorKind::Check, e.to_string()).caused_by(e))
        };
        let bare = text(&Self { manifest_sha256: String::new(), ..self.clone() })?;
        text(&Self { manifest_sha256: hex(&Sha256::digest(bare.as_bytes())), ..self.clone() })
    }

    /// Reads a snapshot's manifest.
    pub fn load(dir: &Folder) -> Result<Self> {
        Self::load_with_text(dir).map(|(manifest, _)| manifest)
    }

    /// Reads a snapshot's manifest, and gives the text it was read from.
    pub(super) fn load_with_text(dir: &Folder) -> Result<(Self, Vec<u8>)> {
        let file = dir.file(MANIFEST);
        let text = file.read_required()?;
        Self::parse(&file, &text).map(|manifest| (manifest, text))
    }

    /// Reads the text of a snapshot's manifest.
    pub(super) fn parse(file: &File, text: &[u8]) -> Result<Self> {
        let corrupt = |e: serde_json::Error| {
            Error::new(ErrorKind::Corrupt, format!("the manifest does not parse: {e}")).with("file", file).caused_by(e)
        };
        let value: Value = serde_json::from_slice(text).map_err(corrupt)?;
        let format = value.get("format").and_then(Value::as_u64).unwrap_or(0);
        require_format(u32::try_from(format).unwrap_or(u32::MAX), file)?;
        let manifest: Self = serde_json::from_value(value).map_err(corrupt)?;
        match manifest.tables.iter().find(|table| !store::is_name(&table.file)) {
            Some(table) => Err(Error::new(ErrorKind::Corrupt, "the manifest names a file outside of its folder")
                .with("file", file)
                .with("name", table.file.escape_debug())
                .hint("do not trust this snapshot")),
            None => Ok(manifest),
        }
    }
}
