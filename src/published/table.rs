//! A published table as its file has it, and what its names mean.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::{CellEntry, Pipeline, PublishedEntry};
use crate::score::display_names;

/// A table of texts.
#[derive(Debug, Clone)]
pub struct PublishedTable {
    /// Name of the built-in table, or the file.
    pub name: String,
    /// Columns.
    pub columns: Vec<String>,
    /// Cells as printed.
    pub rows: Vec<Vec<String>>,
}

impl PublishedTable {
    /// Reads a built-in table by its name, or a CSV file.
    pub fn load(assets: &Assets, name: &str) -> Result<Self> {
        let own = format!("data/published/{name}.csv");
        let built_in = assets.list("data/published", "csv")?;
        if built_in.contains(&own) {
            return Self::parse(name, &own, &assets.text(&own)?);
        }
        let path = Path::new(name);
        if !path.exists() {
            let names: Vec<String> = built_in.iter().filter_map(|path| Some(stem(path)?.to_owned())).collect();
            return Err(Error::new(ErrorKind::Usage, format!("no file or published table `{name}`"))
                .hint(format!("a CSV file, or one of {}", names.join(", "))));
        }
        let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, "read", e))?;
        Self::parse(name, name, &text)
    }

    /// All built-in tables.
    pub fn all(assets: &Assets) -> Result<Vec<Self>> {
        let paths = assets.list("data/published", "csv")?;
        paths.iter().filter_map(|path| stem(path)).map(|name| Self::load(assets, name)).collect()
    }

    fn parse(name: &str, path: &str, text: &str) -> Result<Self> {
        let invalid = |e: csv::Error| {
            let line = e.position().map_or(1, csv::Position::line);
            Error::new(ErrorKind::Input, format!("not a CSV table: {e}"))
                .with("file", path)
                .with("line", line)
                .caused_by(e)
        };
        let mut reader = csv::Reader::from_reader(text.trim_start_matches('\u{feff}').as_bytes());
        let columns: Vec<String> =
            reader.headers().map_err(invalid)?.iter().map(|column| column.trim().to_owned()).collect();
        let mut rows = Vec::new();
        for record in reader.records() {
            rows.push(record.map_err(invalid)?.iter().map(str::to_owned).collect());
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = columns.iter().find(|column| !seen.insert(*column)) {
            return Err(Error::new(ErrorKind::Input, format!("the column `{twice}` stands twice"))
                .with("file", path)
                .with("line", 1));
        }
        if rows.is_empty() {
            return Err(Error::new(ErrorKind::Input, "the table has no rows").with("file", path));
        }
        Ok(Self { name: name.to_owned(), columns, rows })
    }

    /// A cell of a row.
    pub fn cell<'a>(&self, row: &'a [String], column: &str) -> Option<&'a str> {
        let place = self.columns.iter().position(|name| name == column)?;
        row.get(place).map(String::as_str)
    }
}

fn stem(path: &str) -> Option<&str> {
    Path::new(path).file_stem()?.to_str()
}

/// How the pipeline's tables correspond to a published one: as the pipeline says, or, for a table of other columns, by columns of equal
/// names of the board, which the rows name by `model`.
pub fn entry_for(pipeline: &Pipeline, table: &PublishedTable, board: &[&str]) -> Result<PublishedEntry> {
    let fits = |entry: &&PublishedEntry| {
        entry.row.keys().all(|column| table.columns.contains(column))
            && entry.cells.keys().any(|column| table.columns.contains(column))
    };
    let by_name = pipeline.published.iter().find(|entry| entry.table == table.name);
    let common = |entry: &&PublishedEntry| entry.cells.keys().filter(|column| table.columns.contains(column)).count();
    if let Some(entry) = by_name.or_else(|| pipeline.published.iter().filter(fits).max_by_key(common)) {
        return Ok(entry.clone());
    }
    let none = || {
        let wanted: Vec<String> = pipeline
            .published
            .iter()
            .map(|entry| entry.row.keys().chain(entry.cells.keys()).map(String::as_str).collect::<Vec<_>>().join(","))
            .collect();
        Error::new(ErrorKind::Input, "the table's columns are none that can be set beside the snapshot")
            .with("file", &table.name)
            .with("found", table.columns.join(", "))
            .hint(format!(
                "a column `model` and columns of the board ({}), or such of: {}",
                board.join(", "),
                wanted.join("; ")
            ))
    };
    let result = pipeline.show.first().ok_or_else(none)?;
    let model = table.columns.iter().find(|column| *column == "model" || *column == "display_name").ok_or_else(none)?;
    let is_cell = |column: &&String| board.contains(&column.as_str()) && column != &model;
    let cells: BTreeMap<String, CellEntry> = table
        .columns
        .iter()
        .filter(is_cell)
        .map(|column| (column.clone(), CellEntry::Column(column.clone())))
        .collect();
    if cells.is_empty() {
        return Err(none());
    }
    Ok(PublishedEntry {
        table: table.name.clone(),
        result: result.clone(),
        row: BTreeMap::from([(model.clone(), "model".to_owned())]),
        fixed: BTreeMap::new(),
        cells,
        names: BTreeMap::new(),
        n: Some("n".into()),
    })
}

/// Published names and ours.
#[derive(Debug, Clone, Default)]
pub struct Names(BTreeMap<String, BTreeSet<String>>);

impl Names {
    /// The names on boards that `data/models.csv` has, further ones, and those of a mapping file with the columns `published` and
    /// `ours`.
    pub fn load(
        assets: &Assets,
        dataset: &str,
        further: &BTreeMap<String, String>,
        file: Option<&Path>,
    ) -> Result<Self> {
        let mut names = Self::default();
        for (model, shown) in display_names(assets, dataset)? {
            names.add(&shown, &model);
        }
        further.iter().for_each(|(published, ours)| names.add(published, ours));
        let Some(path) = file else { return Ok(names) };
        let table = PublishedTable::load(assets, &path.to_string_lossy())?;
        for row in &table.rows {
            let (Some(published), Some(ours)) = (table.cell(row, "published"), table.cell(row, "ours")) else {
                return Err(Error::new(ErrorKind::Input, "a mapping file has the columns published and ours")
                    .with("file", path.display())
                    .with("found", table.columns.join(", ")));
            };
            names.add(published, ours);
        }
        Ok(names)
    }

    fn add(&mut self, published: &str, ours: &str) {
        self.0.entry(loose(published)).or_default().insert(ours.to_owned());
    }

    /// Whether a published name means one of ours: itself but for case, spaces and punctuation, or as the files say.
    pub fn means(&self, published: &str, ours: &str) -> bool {
        loose(published) == loose(ours) || self.0.get(&loose(published)).is_some_and(|known| known.contains(ours))
    }
}

fn loose(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
