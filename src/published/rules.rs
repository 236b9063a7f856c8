//! Which other rule would give the published figure?

use std::collections::BTreeMap;

use super::Printed;
use super::cells::{Cell, State};
use crate::grid::{Datum, Grid};
use crate::pipeline::{PublishedEntry, SensitivityEntry};

/// What else the numbers could have been.
#[derive(Debug, Default)]
pub struct Rules {
    /// The result table by other rules, by what they are called.
    pub variants: Vec<(String, Grid)>,
    /// The snapshot's sensitivity: each entry's score by other aggregations.
    pub sensitivity: Grid,
    /// What the sensitivity is about.
    pub sensitivity_of: Option<SensitivityEntry>,
}

/// Rules that are told of one cell.
const MOST: usize = 3;

/// Says of a cell that differs by which other rules the published figure comes out; nothing if by none that is known.
pub fn explain(cell: &mut Cell, entry: &PublishedEntry, ours: &Grid, rules: &Rules) {
    let (State::Differs, Some(printed)) = (cell.state, Printed::parse(&cell.published)) else { return };
    let Some(where_it_is) = entry.cells.get(&cell.column) else { return };
    if printed.decimals == 0 {
        // A rank or a count is met by chance too often to tell anything.
        cell.reason = "a whole number: other rules were not tried".into();
        return;
    }
    let (column, scale) = (where_it_is.column(), where_it_is.scale());
    let mut found: Vec<String> = Vec::new();
    if cell.ours.is_some_and(|ours| printed.is_cut_from(ours)) {
        found.push("cut off instead of rounded".into());
    }
    let is_same = |row: &&BTreeMap<String, Datum>, fixed: bool| {
        cell.key.iter().all(|(name, value)| row.get(name).is_none_or(|other| other == value))
            && (!fixed
                || entry.fixed.iter().all(|(name, value)| row.get(name).is_some_and(|other| other.text() == *value)))
    };
    let gives = |row: &BTreeMap<String, Datum>, column: &str| {
        row.get(column).and_then(Datum::number).is_some_and(|number| printed.is(number * scale, None))
    };
    for row in ours.rows.iter().filter(|row| is_same(row, false)) {
        let differing = entry.fixed.iter().filter(|(name, value)| row.get(*name).is_some_and(|d| d.text() != **value));
        let differing: Vec<String> =
            differing.filter_map(|(name, _)| Some(format!("{name} {}", row.get(name)?.text()))).collect();
        if !differing.is_empty() && gives(row, column) {
            found.push(differing.join(", "));
        }
        if differing.is_empty() {
            let others = row.iter().filter(|(name, value)| {
                // A count that happens to equal a share is no rule.
                *name != column && value.number().is_some_and(|number| number.fract() != 0.0) && gives(row, name)
            });
            found.extend(others.map(|(name, _)| format!("the column {name}")));
        }
    }
    for (name, grid) in &rules.variants {
        if grid.rows.iter().any(|row| is_same(&row, true) && gives(row, column)) {
            found.push(name.clone());
        }
    }
    if let Some(about) =
        rules.sensitivity_of.as_ref().filter(|about| about.table == entry.result && about.column == column)
    {
        for row in rules.sensitivity.rows.iter().filter(|row| is_of(about, cell, entry, row)) {
            let rule = row.get("rule").map(Datum::text).unwrap_or_default();
            if gives(row, "score") && !found.contains(&rule) {
                found.push(rule);
            }
        }
    }
    found.dedup();
    let more = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    if more > 0 {
        found.push(format!("{more} more rules"));
    }
    cell.reason = if found.is_empty() {
        "no other rule that is known gives it".into()
    } else {
        format!("may be: {}", found.join("; or "))
    };
}

/// Whether a row of the sensitivity is of the entry that a cell is of.
fn is_of(about: &SensitivityEntry, cell: &Cell, entry: &PublishedEntry, row: &BTreeMap<String, Datum>) -> bool {
    let own = |column: &str| {
        let fixed = || entry.fixed.get(column).cloned();
        cell.key.get(column).map(Datum::text).or_else(fixed)
    };
    let text = |column: &str| row.get(column).map(Datum::text).unwrap_or_default();
    // A part of the scope that the cell does not tell fits any.
    let scope: Option<Vec<String>> = about.scope.iter().map(|column| own(column)).collect();
    let scope = scope.map(|parts| parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" / "));
    own(&about.model).is_some_and(|model| model == text("model"))
        && scope.is_none_or(|scope| scope == text("scope"))
        && ["model_revision", "judge"].iter().all(|name| own(name).is_none_or(|own| own == text(name)))
}
