//! A published table as its file has it, and what its names mean.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::Pipeline;
use crate::schema::TableSchema;
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
        let text = text.trim_start_matches('\u{feff}');
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter(text)).from_reader(text.as_bytes());
        let columns: Vec<String> = reader.headers().map_err(invalid)?.iter().map(heading).collect();
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

/// What parts the columns of the first line: commas, semicolons or tabs, whichever there are most of.
fn delimiter(text: &str) -> u8 {
    let first = text.lines().next().unwrap_or("");
    let count = |delimiter: &u8| first.bytes().filter(|byte| byte == delimiter).count();
    [b'\t', b';', b','].into_iter().max_by_key(count).unwrap_or(b',')
}

/// A heading as a name: `Real-world Fidelity` is real_world_fidelity.
pub fn heading(text: &str) -> String {
    let name: String = text
        .trim()
        .chars()
        .map(|c| if c.is_alphanumeric() { c.to_lowercase().next().unwrap_or(c) } else { '_' })
        .collect();
    name.trim_matches('_').to_owned()
}

fn stem(path: &str) -> Option<&str> {
    Path::new(path).file_stem()?.to_str()
}

/// Requires that what a pipeline says of published tables is there: their columns, and those of the results.
pub fn require_entries(assets: &Assets, pipeline: &Pipeline) -> Result<()> {
    for entry in &pipeline.published {
        let table = PublishedTable::load(assets, &entry.table)?;
        let result = TableSchema::load(assets, &pipeline.dataset, &entry.result)?;
        let published = entry.row.keys().chain(entry.cells.keys()).map(|name| (&table.columns, name));
        let columns: Vec<String> = result.columns.iter().map(|column| column.name.clone()).collect();
        let cells =
            entry.cells.values().flat_map(|cell| cell.at().map(|(column, _)| column.as_str()).chain([cell.column()]));
        let named = entry.row.values().chain(entry.fixed.keys()).chain(&entry.n).map(String::as_str).chain(cells);
        let missing = published
            .filter(|(there, name)| !there.contains(name))
            .map(|(_, name)| (entry.table.as_str(), name.as_str()))
            .chain(
                named.filter(|name| !columns.iter().any(|own| own == name)).map(|name| (entry.result.as_str(), name)),
            )
            .next();
        if let Some((table, column)) = missing {
            return Err(Error::new(ErrorKind::Config, format!("[[published]]: `{table}` has no column `{column}`"))
                .with("pipeline", &pipeline.name));
        }
    }
    Ok(())
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
        let name = loose(published);
        published.trim() == ours
            || !name.is_empty() && (name == loose(ours) || self.0.get(&name).is_some_and(|known| known.contains(ours)))
    }
}

fn loose(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
