//! Whether a judge spreads its scores as it did: Pearson's chi-squared test of two rows of counts.

use std::collections::BTreeMap;

use super::paired;
use crate::grid::{Datum, Grid};

/// How far the scores of one row of `judge_health` moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// Model, pillar, capability and facet.
    pub row: String,
    /// The spread before.
    pub before: String,
    /// The spread now.
    pub after: String,
    /// Cells before.
    pub n_before: u64,
    /// Cells now.
    pub n_after: u64,
    /// Chi-squared.
    pub statistic: f64,
    /// Its degrees of freedom.
    pub df: u32,
    /// p, Holm-corrected over all rows.
    pub p_holm: f64,
}

/// What a cell can be.
const STATES: [&str; 5] = ["n_0", "n_1", "n_2", "na", "unusable"];
/// What names a row.
const KEY: [&str; 8] = ["model", "model_revision", "judge", "lang", "level", "pillar", "capability", "facet"];
/// The level at which every cell is of another prompt; above it the cells of one prompt are no independent observations.
const LEVEL: &str = "facet";

/// Drift of every facet that both tables have, where there are cells enough. Cells of both are taken as independent: of the same prompts in
/// both the test finds less than there is.
pub fn drift(before: &Grid, after: &Grid) -> Vec<Drift> {
    let text = |row: &BTreeMap<String, Datum>, name: &str| row.get(name).map(Datum::text).unwrap_or_default();
    let key = |row: &BTreeMap<String, Datum>| KEY.map(|name| text(row, name));
    let counts = |row: &BTreeMap<String, Datum>| {
        STATES.map(|name| row.get(name).and_then(Datum::number).map_or(0, |count| count as u64))
    };
    let earlier: BTreeMap<[String; 8], [u64; 5]> = before.rows.iter().map(|row| (key(row), counts(row))).collect();
    let mut all: Vec<Drift> = Vec::new();
    for row in &after.rows {
        let key = key(row);
        let Some(was) = earlier.get(&key) else { continue };
        let now = counts(row);
        if text(row, "level") != LEVEL || !is_enough(was, &now) {
            continue;
        }
        let (n_before, n_after) = (was.iter().sum(), now.iter().sum());
        let (statistic, df) = chi_squared(was, &now);
        let Some(p) = chi_squared_p(statistic, df) else { continue };
        let named: Vec<&str> = key.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        let (before, after) = (spread(was), spread(&now));
        all.push(Drift { row: named.join(" / "), before, after, n_before, n_after, statistic, df, p_holm: p });
    }
    let p: Vec<f64> = all.iter().map(|one| one.p_holm).collect();
    all.iter_mut().zip(paired::holm(&p)).for_each(|(one, p)| one.p_holm = p);
    all
}

/// `0: 12, 1: 3, …` of the states that occur.
fn spread(counts: &[u64]) -> String {
    let named = ["0", "1", "2", "N/A", "unusable"].into_iter().zip(counts).filter(|(_, count)| **count > 0);
    named.map(|(state, count)| format!("{state}: {count}")).collect::<Vec<_>>().join(", ")
}

/// Pearson's statistic (Pearson 1900) of two rows of counts, and its degrees of freedom: the states that occur, less one.
pub fn chi_squared(before: &[u64], after: &[u64]) -> (f64, u32) {
    let (n_before, n_after) = (before.iter().sum::<u64>() as f64, after.iter().sum::<u64>() as f64);
    let total = n_before + n_after;
    let mut statistic = 0.0;
    let mut states = 0_u32;
    for (a, b) in before.iter().zip(after).filter(|(a, b)| *a + *b > 0) {
        states += 1;
        for (count, n) in [(*a, n_before), (*b, n_after)] {
            let expected = (*a + *b) as f64 * n / total;
            statistic += (count as f64 - expected) * (count as f64 - expected) / expected;
        }
    }
    (statistic, states.saturating_sub(1))
}

/// p of a chi-squared: the chance of one at least so large, for up to 4 degrees of freedom in closed form (Abramowitz and Stegun 26.4.4,
/// 26.4.5); `None` for more of them, 1 for none.
pub fn chi_squared_p(statistic: f64, df: u32) -> Option<f64> {
    let half = statistic / 2.0;
    let tail = libm::erfc(half.sqrt());
    match df {
        0 => Some(1.0),
        1 => Some(tail),
        2 => Some(libm::exp(-half)),
        3 => Some(tail + (2.0 * statistic / std::f64::consts::PI).sqrt() * libm::exp(-half)),
        4 => Some(libm::exp(-half) * (1.0 + half)),
        _ => None,
    }
}

/// Whether Pearson's approximation holds: every expected count is at least 1, and of five at most one below 5 (Cochran 1954).
fn is_enough(before: &[u64], after: &[u64]) -> bool {
    let (n_before, n_after) = (before.iter().sum::<u64>() as f64, after.iter().sum::<u64>() as f64);
    let both = before.iter().zip(after).map(|(a, b)| (a + b) as f64).filter(|both| *both > 0.0);
    let expected: Vec<f64> =
        both.flat_map(|both| [n_before, n_after].map(|n| both * n / (n_before + n_after))).collect();
    let small = expected.iter().filter(|count| **count < 5.0).count();
    !expected.is_empty() && expected.iter().all(|count| *count >= 1.0) && 5 * small <= expected.len()
}
