//! The built-in datasets.

use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use serde::Deserialize;

/// A row of `data/datasets.csv`.
#[derive(Debug, Clone, Deserialize)]
pub struct Dataset {
    /// Id on the command line, with hyphens.
    pub id: String,
    /// Schema in SQL, with underscores.
    pub sql_schema: String,
    /// What it measures.
    pub title: String,
    /// Where the files are published.
    pub source: String,
    /// The revision that was checked.
    pub revision: String,
    /// Licence of the files.
    pub licence: String,
    /// The files, separated by blanks.
    pub files: String,
}

impl Dataset {
    /// All built-in datasets, in the order of the file.
    pub fn all(assets: &Assets) -> Result<Vec<Self>> {
        read_csv(assets, "data/datasets.csv")
    }

    /// One dataset by id; its SQL schema name is taken too.
    pub fn find(assets: &Assets, id: &str) -> Result<Self> {
        let all = Self::all(assets)?;
        let names: Vec<_> = all.iter().map(|dataset| dataset.id.clone()).collect();
        all.into_iter().find(|dataset| dataset.id == id || dataset.sql_schema == id).ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("unknown dataset `{id}`"))
                .hint(format!("known datasets: {}", names.join(", ")))
        })
    }
}

/// Reads a CSV file of the assets into rows; a column too many or too few is an error.
pub(crate) fn read_csv<T: serde::de::DeserializeOwned>(assets: &Assets, path: &str) -> Result<Vec<T>> {
    csv::Reader::from_reader(assets.text(path)?.as_bytes())
        .deserialize()
        .map(|row| {
            row.map_err(|e: csv::Error| Error::new(ErrorKind::Config, e.to_string()).with("file", path).caused_by(e))
        })
        .collect()
}
