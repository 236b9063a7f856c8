//! Cell by cell: does the snapshot give the published figure?

use std::collections::{BTreeMap, BTreeSet};

use super::{Names, Printed, PublishedTable};
use crate::grid::{Datum, Grid};
use crate::pipeline::{CellEntry, PublishedEntry};

/// What a comparison finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Ours, printed to its digits, is the published one.
    Match,
    /// It is not.
    Differs,
    /// The snapshot has no such number.
    NotComputable,
    /// The published cell is empty.
    NotPublished,
    /// The published cell is no number.
    NotReadable,
}

impl State {
    /// As written in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Differs => "differs",
            Self::NotComputable => "not computable",
            Self::NotPublished => "not published",
            Self::NotReadable => "not readable",
        }
    }
}

/// A published figure and ours.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The published table.
    pub table: String,
    /// Names of the row, as published, with what tells two of our rows apart.
    pub row: String,
    /// The published column.
    pub column: String,
    /// As printed.
    pub published: String,
    /// Our number.
    pub ours: Option<f64>,
    /// What ours is of.
    pub n: Option<f64>,
    /// Whether both are one.
    pub state: State,
    /// Why there is no number, or by which other rule the published one would come out.
    pub reason: String,
    /// Our row, as the keys that named it.
    pub(super) key: BTreeMap<String, Datum>,
}

/// All cells of a table.
#[derive(Debug, Clone, Default)]
pub struct Compared {
    /// The cells.
    pub cells: Vec<Cell>,
    /// Published rows that the snapshot lacks.
    pub missing: Vec<String>,
    /// Names that stand in several of its rows.
    pub twice: BTreeSet<String>,
    /// Rows of the snapshot that the table lacks.
    pub unpublished: BTreeSet<String>,
    /// Rows of the snapshot that it has.
    used: BTreeSet<String>,
}

impl Compared {
    /// Adds what another part of the same table gave: a row is missing if no part has it.
    pub fn join(&mut self, other: Self) {
        let is_first = self.cells.is_empty();
        self.cells.extend(other.cells);
        if is_first {
            self.missing = other.missing;
        } else {
            self.missing.retain(|row| other.missing.contains(row));
        }
        self.twice.extend(other.twice);
        self.used.extend(other.used);
        self.unpublished.extend(other.unpublished);
        self.unpublished.retain(|label| !self.used.contains(label));
    }
}

/// Columns that tell two of our rows of one name apart.
const APART: [&str; 4] = ["model", "model_revision", "judge", "reference_revision"];

/// Compares the cells of a published table with the rows of its result table.
pub fn compare(
    table: &PublishedTable,
    entry: &PublishedEntry,
    ours: &Grid,
    names: &Names,
    tolerance: Option<f64>,
) -> Compared {
    let has = |row: &BTreeMap<String, Datum>, column: &str, value: &str| {
        row.get(column).is_some_and(|datum| datum.text() == value)
    };
    let eligible: Vec<&BTreeMap<String, Datum>> =
        ours.rows.iter().filter(|row| entry.fixed.iter().all(|(column, value)| has(row, column, value))).collect();
    let mut compared = Compared::default();
    let mut used = BTreeSet::new();
    let mut labels = BTreeSet::new();
    for published in &table.rows {
        let named: Vec<(&str, &String)> =
            entry.row.iter().filter_map(|(column, own)| Some((table.cell(published, column)?, own))).collect();
        let label = named.iter().map(|(name, _)| name.trim()).collect::<Vec<_>>().join(" / ");
        let names_by = |row: &BTreeMap<String, Datum>, is: &dyn Fn(&str, &str) -> bool| {
            named.iter().all(|(name, own)| {
                let own_name = |column: &str| row.get(column).is_some_and(|datum| is(name, &datum.text()));
                own_name(own) || own.as_str() == "model" && own_name("display_name")
            })
        };
        // A row of just this name comes before those of like names.
        let is_same = |a: &str, b: &str| a.trim() == b;
        let has_same = eligible.iter().any(|row| names_by(row, &is_same));
        let is_named = |row: &BTreeMap<String, Datum>| {
            if has_same { names_by(row, &is_same) } else { names_by(row, &|a, b| names.means(a, b)) }
        };
        if !labels.insert(label.clone()) {
            compared.twice.insert(label.clone());
        }
        let mut is_found = false;
        for (column, cell) in &entry.cells {
            let Some(text) = table.cell(published, column) else { continue };
            let fits = |(_, row): &(usize, &&BTreeMap<String, Datum>)| {
                is_named(row) && cell.at().all(|(column, value)| has(row, column, value))
            };
            let rows: Vec<(usize, &&BTreeMap<String, Datum>)> = eligible.iter().enumerate().filter(fits).collect();
            used.extend(rows.iter().map(|(place, _)| *place));
            is_found |= !rows.is_empty();
            let several = rows.len() > 1;
            let bare = Cell {
                table: table.name.clone(),
                row: label.clone(),
                column: column.clone(),
                published: text.trim().to_owned(),
                ours: None,
                n: None,
                state: State::NotComputable,
                reason: "no such row in the snapshot".into(),
                key: BTreeMap::new(),
            };
            if rows.is_empty() {
                let (state, reason) = unread(text).unwrap_or((State::NotComputable, bare.reason.as_str()));
                compared.cells.push(Cell { state, reason: reason.to_owned(), ..bare.clone() });
            }
            compared.cells.extend(rows.into_iter().map(|(_, row)| one(&bare, cell, entry, row, several, tolerance)));
        }
        if !is_found {
            compared.missing.push(label);
        }
    }
    let own_label = |row: &BTreeMap<String, Datum>| {
        entry.row.values().filter_map(|column| row.get(column)).map(Datum::text).collect::<Vec<_>>().join(" / ")
    };
    for (place, row) in eligible.iter().enumerate() {
        let labels = if used.contains(&place) { &mut compared.used } else { &mut compared.unpublished };
        labels.insert(own_label(row));
    }
    compared.unpublished.retain(|label| !compared.used.contains(label));
    compared
}

/// Why a published cell has no number.
fn unread(text: &str) -> Option<(State, &'static str)> {
    match Printed::parse(text) {
        Some(_) => None,
        None if ["", "-", "–", "—"].contains(&text.trim()) => Some((State::NotPublished, "no number is published")),
        None => Some((State::NotReadable, "the published cell is no number")),
    }
}

fn one(
    bare: &Cell,
    cell: &CellEntry,
    entry: &PublishedEntry,
    row: &BTreeMap<String, Datum>,
    several: bool,
    tolerance: Option<f64>,
) -> Cell {
    let number = |column: &str| row.get(column).and_then(Datum::number);
    let ours = number(cell.column()).map(|number| number * cell.scale());
    let (state, reason) = match (Printed::parse(&bare.published), ours) {
        (None, _) => unread(&bare.published).unwrap_or((State::NotReadable, "")),
        (Some(_), None) if !row.contains_key(cell.column()) => {
            (State::NotComputable, "the snapshot has no such column")
        }
        (Some(_), None) => (State::NotComputable, "the snapshot's number is empty"),
        (Some(printed), Some(ours)) if printed.is(ours, tolerance) => (State::Match, ""),
        _ => (State::Differs, ""),
    };
    // Two of our rows may bear one name: revisions, judges, spellings.
    let apart = APART.iter().filter_map(|column| row.get(*column)).map(Datum::text).filter(|text| !text.is_empty());
    let label =
        if several { format!("{} ({})", bare.row, apart.collect::<Vec<_>>().join(", ")) } else { bare.row.clone() };
    let at = cell.at().map(|(column, _)| column);
    let keys = entry.row.values().chain(at).map(String::as_str).chain(APART);
    Cell {
        row: label,
        ours,
        n: cell.n().or(entry.n.as_deref()).and_then(number),
        state,
        reason: reason.into(),
        key: keys.filter_map(|column| Some((column.to_owned(), row.get(column)?.clone()))).collect(),
        ..bare.clone()
    }
}
