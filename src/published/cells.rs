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
    /// The published cell is empty or no number.
    NotPublished,
}

impl State {
    /// As written in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Differs => "differs",
            Self::NotComputable => "not computable",
            Self::NotPublished => "not published",
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
    /// Rows of the snapshot that the table lacks.
    pub unpublished: Vec<String>,
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
    for published in &table.rows {
        let named: Vec<(&str, &String)> =
            entry.row.iter().filter_map(|(column, own)| Some((table.cell(published, column)?, own))).collect();
        let label = named.iter().map(|(name, _)| name.trim()).collect::<Vec<_>>().join(" / ");
        let is_named = |row: &BTreeMap<String, Datum>| {
            named.iter().all(|(name, own)| {
                let own_name = |column: &str| row.get(column).is_some_and(|datum| names.means(name, &datum.text()));
                own_name(own) || own.as_str() == "model" && own_name("display_name")
            })
        };
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
                let state = if Printed::parse(text).is_some() { State::NotComputable } else { State::NotPublished };
                compared.cells.push(Cell { state, ..bare.clone() });
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
    let unused = eligible.iter().enumerate().filter(|(place, _)| !used.contains(place));
    let unpublished: BTreeSet<String> = unused.map(|(_, row)| own_label(row)).collect();
    compared.unpublished = unpublished.into_iter().collect();
    compared
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
        (None, _) => (State::NotPublished, "no number is published"),
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
        n: entry.n.as_deref().and_then(number),
        state,
        reason: reason.into(),
        key: keys.filter_map(|column| Some((column.to_owned(), row.get(column)?.clone()))).collect(),
        ..bare.clone()
    }
}
