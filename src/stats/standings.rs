//! Who is first, and could it be chance: intervals of ranks, and groups that paired tests do not separate.

use std::collections::BTreeMap;

use super::compare::main_test;
use super::sample::{Entry, Observations, Observed};
use super::{Bounds, Interval, paired, ranks};
use crate::pipeline::{PlannedIntervals, PlannedSample};

/// A model's place on its board.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// Whose.
    pub entry: Entry,
    /// The board's rank; none below the minimum coverage.
    pub rank: Option<i64>,
    /// Its score.
    pub score: Option<f64>,
    /// Units with a score.
    pub n: u64,
    /// The score's interval, BCa where it is defined, else the other one.
    pub bounds: Option<Bounds>,
    /// Bounds of its rank.
    pub ranks: Option<ranks::RankSpread>,
    /// Numbers of the groups it is in, separated by commas; models that share one are not separated.
    pub groups: Option<String>,
}

/// Level that corrected tests are held against: what the confidence leaves.
fn level(plan: &PlannedIntervals) -> f64 {
    1.0 - plan.confidence
}

/// The entries of a board with their ranks.
type Members<'a> = Vec<(&'a Entry, Option<i64>)>;

/// The standings of every board (scope and judge) from the observations and replicates of the sample that ranks. `board` has the rank
/// of every entry.
pub fn standings(
    sample: &PlannedSample,
    observed: &[(Observations, Vec<Vec<f64>>)],
    samples: &[&PlannedSample],
    intervals: &[Interval],
    board: &BTreeMap<Entry, Option<i64>>,
    plan: &PlannedIntervals,
) -> Vec<Standing> {
    let mut columns: BTreeMap<&Entry, (&Observed, &Vec<f64>)> = BTreeMap::new();
    for (observations, means) in observed {
        for (column, means) in observations.columns.iter().zip(means) {
            let is_own = samples.get(column.sample).is_some_and(|other| other.entry.name == sample.entry.name);
            if is_own && column.item.is_empty() {
                columns.insert(&column.entry, (column, means));
            }
        }
    }
    let mut boards: BTreeMap<(&str, &str), Members> = BTreeMap::new();
    for (entry, rank) in board {
        boards.entry((&entry.scope, &entry.judge)).or_default().push((entry, *rank));
    }
    let mut all = Vec::new();
    for members in boards.into_values() {
        let mut ranked: Vec<(i64, &Entry)> = members
            .iter()
            .filter(|(entry, _)| columns.contains_key(entry))
            .filter_map(|(entry, rank)| rank.map(|rank| (rank, *entry)))
            .collect();
        ranked.sort();
        let of = |entry: &Entry| columns.get(entry).copied();
        let replicates: Vec<Vec<f64>> =
            ranked.iter().filter_map(|(_, entry)| of(entry).map(|(_, means)| means.clone())).collect();
        let spreads = ranks::rank_spreads(&replicates, plan.confidence);
        let values: Vec<&Observed> =
            ranked.iter().filter_map(|(_, entry)| of(entry).map(|(column, _)| column)).collect();
        let groups = groups(sample, &values, level(plan));
        for (entry, rank) in members {
            let place = ranked.iter().position(|(_, other)| *other == entry);
            let own = |interval: &&Interval| {
                interval.table == sample.entry.table
                    && interval.entry == *entry
                    && interval.item.is_empty()
                    && interval.statistic == "mean"
            };
            let mut bounds = intervals
                .iter()
                .filter(own)
                .filter_map(|interval| interval.bounds.ok().map(|bounds| (interval.method != "bca", bounds)))
                .collect::<Vec<_>>();
            bounds.sort_by_key(|(is_other, _)| *is_other);
            let column = of(entry).map(|(column, _)| column);
            all.push(Standing {
                entry: entry.clone(),
                rank,
                score: column.and_then(|column| super::intervals::exact_mean(column.present())),
                n: column.map_or(0, |column| column.present().count() as u64),
                bounds: bounds.first().map(|(_, bounds)| *bounds),
                // One prompt says nothing of how ranks would vary.
                ranks: place
                    .filter(|_| column.is_some_and(|column| column.present().nth(1).is_some()))
                    .and_then(|place| spreads.get(place).copied().flatten()),
                groups: place.and_then(|place| groups.get(place).cloned()),
            });
        }
    }
    all
}

/// Groups of models in the order of their ranks, by paired tests on the prompts that two models share, Holm-corrected over all pairs
/// of the board. Models that share no prompt are not separated.
fn groups(sample: &PlannedSample, columns: &[&Observed], level: f64) -> Vec<String> {
    let mut pairs = Vec::new();
    for a in 0..columns.len() {
        for b in a + 1..columns.len() {
            pairs.push((a, b));
        }
    }
    let tested = |(a, b): &(usize, usize)| {
        let both = columns[*a].values.iter().zip(&columns[*b].values);
        let differences: Vec<f64> =
            both.map(|(a, b)| paired::difference(*a, *b)).filter(|difference| !difference.is_nan()).collect();
        (!differences.is_empty()).then(|| main_test(sample.entry.kind, &differences))
    };
    // Pairs without a common prompt are not tested, and so no part of the correction.
    let tests: Vec<((usize, usize), (f64, bool))> =
        pairs.into_iter().filter_map(|pair| Some((pair, tested(&pair)?))).collect();
    let p: Vec<f64> = tests.iter().map(|(_, (p, _))| *p).collect();
    let separated: std::collections::HashSet<(usize, usize)> = tests
        .iter()
        .zip(paired::holm(&p))
        .filter(|((_, (_, points_alike)), p)| *p < level && *points_alike)
        .map(|((pair, _), _)| *pair)
        .collect();
    let numbers = ranks::groups(columns.len(), |a, b| separated.contains(&(a, b)));
    numbers.into_iter().map(|of| of.iter().map(usize::to_string).collect::<Vec<_>>().join(",")).collect()
}
