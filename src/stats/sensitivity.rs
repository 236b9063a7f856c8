//! The numbers by other rules: what each entry's score and rank would be, and whether the order changes.

use std::collections::{BTreeMap, BTreeSet};

use super::ranks;
use super::sample::Entry;
use crate::grid::{Datum, Grid};
use crate::pipeline::{AS_SCORED, SensitivityEntry};

/// An entry's score by one rule.
#[derive(Debug, Clone, PartialEq)]
pub struct ByRule {
    /// The rule.
    pub rule: String,
    /// Whose score.
    pub entry: Entry,
    /// The score.
    pub score: Option<f64>,
    /// Its rank by this rule: that of a variant's own board, else among those that have a rank as scored.
    pub rank: Option<i64>,
    /// Its rank as scored.
    pub rank_as_scored: Option<i64>,
    /// Whether any of its board has another rank by this rule.
    pub order_changed: bool,
    /// What the score is of.
    pub n: Option<i64>,
}

/// Scores and ranks by the table itself, by other rules' tables, and by other aggregations.
pub fn by_rule(sensitivity: &SensitivityEntry, table: &Grid, others: &[(String, Grid)], scores: &Grid) -> Vec<ByRule> {
    let mut all = from_table(AS_SCORED, sensitivity, table);
    let is_ranked = |row: &BTreeMap<String, Datum>| row.get("rank").is_none_or(|rank| *rank != Datum::Null);
    let ranked: BTreeSet<Entry> =
        table.rows.iter().filter(|row| is_ranked(row)).map(|row| table_entry(sensitivity, row)).collect();
    for (rule, grid) in others {
        all.extend(from_table(rule, sensitivity, grid));
    }
    let text = |row: &BTreeMap<String, Datum>, name: &str| row.get(name).map(Datum::text).unwrap_or_default();
    all.extend(scores.rows.iter().map(|row| ByRule {
        rule: text(row, "rule"),
        entry: Entry {
            scope: text(row, "scope"),
            model: text(row, "model"),
            model_revision: text(row, "model_revision"),
            judge: text(row, "judge"),
        },
        score: row.get("score").and_then(Datum::number),
        rank: None,
        rank_as_scored: None,
        order_changed: false,
        n: row.get("n").and_then(Datum::number).map(|n| n as i64),
    }));
    let is_ranked = table.rows.first().is_some_and(|row| row.contains_key("rank"));
    let boards: BTreeSet<&str> = others.iter().map(|(rule, _)| rule.as_str()).chain([AS_SCORED]).collect();
    rank(&mut all, &ranked, |rule| is_ranked && boards.contains(rule));
    all
}

fn table_entry(sensitivity: &SensitivityEntry, row: &BTreeMap<String, Datum>) -> Entry {
    let text = |name: &str| row.get(name).map(Datum::text).unwrap_or_default();
    Entry {
        scope: sensitivity
            .scope
            .iter()
            .map(|column| text(column))
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" / "),
        model: text(&sensitivity.model),
        model_revision: text("model_revision"),
        judge: text("judge"),
    }
}

fn from_table(rule: &str, sensitivity: &SensitivityEntry, table: &Grid) -> Vec<ByRule> {
    let row = |row: &BTreeMap<String, Datum>| ByRule {
        rule: rule.to_owned(),
        entry: table_entry(sensitivity, row),
        score: row.get(&sensitivity.column).and_then(Datum::number),
        rank: row.get("rank").and_then(Datum::number).map(|rank| rank as i64),
        rank_as_scored: None,
        order_changed: false,
        n: row.get(&sensitivity.n).and_then(Datum::number).map(|n| n as i64),
    };
    table.rows.iter().map(row).collect()
}

/// Ranks the entries of each rule, scope and judge where no board has ranked them, and says how they differ from those as scored.
fn rank(all: &mut [ByRule], ranked: &BTreeSet<Entry>, has_own: impl Fn(&str) -> bool) {
    let mut boards: BTreeMap<(String, String, String), Vec<usize>> = BTreeMap::new();
    for (at, one) in all.iter().enumerate() {
        boards.entry((one.rule.clone(), one.entry.scope.clone(), one.entry.judge.clone())).or_default().push(at);
    }
    for (_, members) in boards.iter().filter(|((rule, ..), _)| !has_own(rule)) {
        let members: Vec<usize> = members.iter().copied().filter(|at| ranked.contains(&all[*at].entry)).collect();
        let scores: Vec<f64> = members.iter().map(|at| all[*at].score.unwrap_or(f64::NAN)).collect();
        for (at, place) in members.iter().zip(ranks::places(&scores)) {
            all[*at].rank = place.and_then(|place| i64::try_from(place).ok());
        }
    }
    let own: BTreeMap<Entry, i64> =
        all.iter().filter(|one| one.rule == AS_SCORED).filter_map(|one| Some((one.entry.clone(), one.rank?))).collect();
    all.iter_mut().for_each(|one| one.rank_as_scored = own.get(&one.entry).copied());
    for members in boards.values() {
        if members.iter().any(|at| all[*at].rank != all[*at].rank_as_scored) {
            members.iter().for_each(|at| all[*at].order_changed = true);
        }
    }
}
