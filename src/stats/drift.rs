//! Whether a judge spreads its scores as it did: Pearson's chi-squared test of two rows of counts.

use std::collections::BTreeMap;

use super::paired;
use crate::grid::{Datum, Grid};

/// How far the scores of one row of `judge_health` moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// Model, level, pillar and facet.
    pub row: String,
    /// Cells before.
    pub n_before: u64,
    /// Cells now.
    pub n_after: u64,
    /// Chi-squared.
    pub statistic: f64,
    /// Its degrees of freedom.
    pub df: u32,
    /// p, Holm-corrected over the rows of its level.
    pub p_holm: f64,
}

/// What a cell can be.
const STATES: [&str; 5] = ["n_0", "n_1", "n_2", "na", "unusable"];
/// What names a row.
const KEY: [&str; 8] = ["model", "model_revision", "judge", "lang", "level", "pillar", "capability", "facet"];
/// Pearson's approximation is of counts; below it a row says little.
const LEAST: u64 = 20;

/// Drift of every row that both tables have, with at least 20 cells in each.
pub fn drift(before: &Grid, after: &Grid) -> Vec<Drift> {
    let text = |row: &BTreeMap<String, Datum>, name: &str| row.get(name).map(Datum::text).unwrap_or_default();
    let key = |row: &BTreeMap<String, Datum>| KEY.map(|name| text(row, name));
    let counts = |row: &BTreeMap<String, Datum>| {
        STATES.map(|name| row.get(name).and_then(Datum::number).map_or(0, |count| count as u64))
    };
    let earlier: BTreeMap<[String; 8], [u64; 5]> = before.rows.iter().map(|row| (key(row), counts(row))).collect();
    let mut levels: BTreeMap<String, Vec<Drift>> = BTreeMap::new();
    for row in &after.rows {
        let key = key(row);
        let Some(was) = earlier.get(&key) else { continue };
        let now = counts(row);
        let (n_before, n_after) = (was.iter().sum(), now.iter().sum());
        if n_before < LEAST || n_after < LEAST {
            continue;
        }
        let (statistic, df) = chi_squared(was, &now);
        let named: Vec<&str> = key.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        let one = Drift { row: named.join(" / "), n_before, n_after, statistic, df, p_holm: chance(statistic, df) };
        levels.entry(text(row, "level")).or_default().push(one);
    }
    for rows in levels.values_mut() {
        let p: Vec<f64> = rows.iter().map(|one| one.p_holm).collect();
        rows.iter_mut().zip(paired::holm(&p)).for_each(|(one, p)| one.p_holm = p);
    }
    levels.into_values().flatten().collect()
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

/// The chance of a chi-squared at least so large, for degrees of freedom up to 4 in closed form (Abramowitz and Stegun 26.4.4, 26.4.5); 1
/// without degrees of freedom.
pub fn chance(statistic: f64, df: u32) -> f64 {
    let half = statistic / 2.0;
    let tail = libm::erfc(half.sqrt());
    match df {
        0 => 1.0,
        1 => tail,
        2 => libm::exp(-half),
        3 => tail + (2.0 * statistic / std::f64::consts::PI).sqrt() * libm::exp(-half),
        _ => libm::exp(-half) * (1.0 + half),
    }
}
