//! `manifest.json` of a dataset: the sources and the parts that count. Swapping it publishes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{FORMAT, Lake, require_format};
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::{Form, Ids, Notes, Provenance, SourceOptions};
use crate::store::{self, File, Folder, Version, Written};

/// A Parquet file of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// File name in the table's folder.
    pub file: String,
    /// Rows.
    pub rows: u64,
    /// Size of the file.
    pub bytes: u64,
}

/// One source that was ingested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceEntry {
    /// Digest of content, dataset, options and reader version; the `source` column of its rows.
    pub key: String,
    /// Where it was read from; several places may hold the same content.
    pub uris: Vec<String>,
    /// Size of the file as stored.
    pub size: u64,
    /// The commit of the repository that it was fetched at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// SHA-256 of the file as stored.
    pub sha256: String,
    /// What the command line said about it.
    pub options: SourceOptions,
    /// Identity of the reader: its version and the rubric it read by.
    pub reader: String,
    /// Its form.
    #[serde(default, skip_serializing_if = "Form::is_wide")]
    pub form: Form,
    /// Place in the order of publishing, from 1; matters only with `supersedes`.
    pub sequence: u64,
    /// Whether its replies replace older ones about the same image (`--supersede`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub supersedes: bool,
    /// Records read, rejects too.
    pub records: u64,
    /// Records that could not be read.
    pub rejected: u64,
    /// IDs of the prompts it is about.
    #[serde(default, skip_serializing_if = "Ids::is_empty")]
    pub ids: Ids,
    /// How its images and replies were made, as told at ingest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// Counts of what the reader met.
    #[serde(default, skip_serializing_if = "Notes::is_empty")]
    pub notes: Notes,
    /// Parts by table.
    pub parts: BTreeMap<String, Vec<Part>>,
    /// Files of rejects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejects: Vec<Part>,
}

/// The published state of a dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of this form.
    pub format: u32,
    /// Dataset id.
    pub dataset: String,
    /// Sources, by key.
    pub sources: Vec<SourceEntry>,
    /// Replies that do not count because another one about the same image does, by reason.
    #[serde(default, skip_serializing_if = "Notes::is_empty")]
    pub set_aside: Notes,
    /// The table of those replies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set_aside_part: Option<Part>,
}

impl Manifest {
    /// The state of a dataset that nothing was ingested into.
    pub fn empty(dataset: &str) -> Self {
        Self {
            format: FORMAT,
            dataset: dataset.into(),
            sources: Vec::new(),
            set_aside: Notes::default(),
            set_aside_part: None,
        }
    }

    /// The dataset, tables and files that it names: each becomes part of a path.
    fn names(&self) -> impl Iterator<Item = &str> {
        let parts = self.sources.iter().flat_map(|source| &source.parts);
        let of_parts = parts.flat_map(|(table, parts)| {
            std::iter::once(table.as_str()).chain(parts.iter().map(|part| part.file.as_str()))
        });
        let rejects = self.sources.iter().flat_map(|source| &source.rejects).chain(&self.set_aside_part);
        of_parts.chain(rejects.map(|part| part.file.as_str())).chain([self.dataset.as_str()])
    }

    fn file(lake: &Lake, dataset: &str) -> File {
        lake.dataset_dir(dataset).file("manifest.json")
    }

    /// Reads a dataset's manifest; without one the dataset is empty.
    pub fn load(lake: &Lake, dataset: &str) -> Result<Self> {
        Self::load_versioned(lake, dataset).map(|(manifest, _)| manifest)
    }

    /// Reads a dataset's manifest, and gives the version to swap.
    pub(super) fn load_versioned(lake: &Lake, dataset: &str) -> Result<(Self, Version)> {
        let file = Self::file(lake, dataset);
        let Some((text, version)) = file.read_versioned()? else {
            return Ok((Self::empty(dataset), Version::Absent));
        };
        let corrupt = |e: serde_json::Error| {
            Error::new(ErrorKind::Corrupt, format!("the manifest does not parse: {e}")).with("file", &file).caused_by(e)
        };
        // The format first: a newer manifest may have fields that this version does not know.
        let value: serde_json::Value = serde_json::from_slice(&text).map_err(corrupt)?;
        let format = value.get("format").and_then(serde_json::Value::as_u64).unwrap_or(0);
        require_format(u32::try_from(format).unwrap_or(u32::MAX), &file)?;
        let manifest: Self = serde_json::from_value(value).map_err(corrupt)?;
        let outside = manifest.names().find(|name| !store::is_name(name)).map(str::to_owned);
        match outside {
            Some(name) => Err(Error::new(ErrorKind::Corrupt, "the manifest names a file outside of its folder")
                .with("file", &file)
                .with("name", name.escape_debug())
                .hint("do not trust this lake")),
            None => Ok((manifest, version)),
        }
    }

    /// Swaps the manifest: the one act that publishes. In a bucket it is refused to a writer that another one was faster than.
    pub(super) fn store(&self, lake: &Lake, version: &Version) -> Result<Written> {
        let text =
            serde_json::to_string_pretty(self).map_err(|e| Error::new(ErrorKind::Check, e.to_string()).caused_by(e))?;
        Self::file(lake, &self.dataset).write_if(format!("{text}\n").as_bytes(), version)
    }

    /// Files of a table. A part that is missing or of another size is an error: fewer rows must not pass for all.
    pub fn files(&self, lake: &Lake, table: &str) -> Result<Vec<File>> {
        let parts: Vec<&Part> = match table {
            "set_aside" => self.set_aside_part.iter().collect(),
            _ => self.sources.iter().flat_map(|source| source.parts.get(table)).flatten().collect(),
        };
        checked(&lake.table_dir(&self.dataset, table), &parts)
    }

    /// Files of rejects.
    pub fn reject_files(&self, lake: &Lake) -> Result<Vec<File>> {
        let parts: Vec<&Part> = self.sources.iter().flat_map(|source| &source.rejects).collect();
        checked(&lake.rejects_dir(&self.dataset), &parts)
    }
}

/// The files of parts, each held against its size.
fn checked(dir: &Folder, parts: &[&Part]) -> Result<Vec<File>> {
    let is_listed =
        |part: &&Part| matches!(dir.file(&part.file), File::Object(object) if object.listed_size().is_some());
    if matches!(dir, Folder::Bucket(..)) && !parts.iter().all(is_listed) {
        // One request for all of them.
        dir.files()?;
    }
    let file = |part: &&Part| {
        let file = dir.file(&part.file);
        let size = match &file {
            File::Object(object) => object.listed_size(),
            _ => file.size()?,
        };
        let found = match size {
            Some(size) if size == part.bytes => return Ok(file),
            Some(size) => format!("it has {size} bytes"),
            None => "it is not there".to_owned(),
        };
        Err(Error::new(ErrorKind::Corrupt, format!("a part of the lake is not as it was published: {found}"))
            .with("file", file)
            .with("expected", format!("{} bytes", part.bytes))
            .hint("ingest the sources into a new lake; `runs/` and the manifest name them"))
    };
    parts.iter().map(file).collect()
}
