//! Intervals of every score that a run asks for, as rows of the table `intervals`.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::sample::{Entry, Observations, Observed, SampleRows};
use super::{Bounds, Replicates, Resampling, acceleration, normal, patterns, proportion, rank_correlation};
use crate::error::{Error, ErrorKind, Result};
use crate::exact::ExactSum;
use crate::pipeline::{PlannedIntervals, PlannedSample, SampleKind};

/// One interval, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// The result table whose number it is about.
    pub table: String,
    /// Whose number.
    pub entry: Entry,
    /// Of what; empty for the table's own score.
    pub item: String,
    /// The statistic.
    pub statistic: String,
    /// percentile, bca, wilson, jackknife or fisher.
    pub method: &'static str,
    /// The statistic's value.
    pub estimate: Option<f64>,
    /// Observations.
    pub n: u64,
    /// The bounds, or why there are none.
    pub bounds: Result<Bounds, &'static str>,
    /// Replicates that were defined.
    pub replicates: Option<u64>,
    /// Seed of the replicates.
    pub seed: Option<u64>,
}

/// One observation says nothing about how others would be.
pub(super) const ONE: &str = "one observation";
/// Resampling equal values gives them again.
pub(super) const CONSTANT: &str = "all values are equal";
/// BCa needs replicates on both sides.
pub(super) const ONE_SIDED: &str = "all replicates on one side of the estimate";
const WITHOUT: &str = "no trials";
const OUTSIDE: &str = "more flags than records: no proportion";

/// The intervals of samples, and the replicates of those that rank.
pub struct Estimated {
    /// Rows, in no order.
    pub intervals: Vec<Interval>,
    /// Observations of samples with units, with each column's replicates.
    pub observed: Vec<(Observations, Vec<Vec<f64>>)>,
}

/// Computes the intervals of samples.
pub fn estimate(samples: Vec<(&PlannedSample, SampleRows)>, plan: &PlannedIntervals) -> Result<Estimated> {
    let resampling = Resampling { replicates: plan.replicates, seed: plan.seed };
    let (with_units, others): (Vec<_>, Vec<_>) =
        samples.into_iter().partition(|(sample, _)| sample.entry.kind.has_units());
    let mut intervals = Vec::new();
    let mut observed = Vec::new();
    for observations in Observations::gather(&with_units)? {
        let columns: Vec<&[f64]> = observations.columns.iter().map(|column| column.values.as_slice()).collect();
        let means = resampling.means(observations.units.len(), &columns);
        let of = |(column, means): (&Observed, &Vec<f64>)| {
            let sample = with_units[column.sample].0;
            if sample.entry.kind == SampleKind::YesNo {
                yes_no(sample, column, plan.confidence)
            } else {
                mean(sample, column, means, plan)
            }
        };
        intervals.extend(observations.columns.par_iter().zip(&means).flat_map_iter(of).collect::<Vec<_>>());
        observed.push((observations, means));
    }
    for (sample, rows) in others {
        match sample.entry.kind {
            SampleKind::Proportion => intervals.extend(proportions(sample, &rows, plan.confidence)?),
            SampleKind::Patterns => intervals.extend(patterns::intervals(sample, &rows, plan)?),
            SampleKind::Pairs => intervals.extend(rank_correlation::intervals(sample, &rows, plan)?),
            SampleKind::Mean | SampleKind::YesNo => {}
        }
    }
    Ok(Estimated { intervals, observed })
}

/// The mean of the values that are there, rounded once.
pub fn exact_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sum = ExactSum::default();
    values.for_each(|value| sum.add(value));
    sum.mean()
}

fn mean(sample: &PlannedSample, column: &Observed, means: &[f64], plan: &PlannedIntervals) -> Vec<Interval> {
    let n = column.present().count() as u64;
    let estimate = exact_mean(column.present());
    let replicates = Replicates::new(means.to_vec());
    let acceleration = acceleration(column.present());
    let percentile = match (n, acceleration) {
        (0 | 1, _) => Err(ONE),
        (_, None) => Err(CONSTANT),
        _ => replicates.percentile(plan.confidence).ok_or(ONE),
    };
    let bca = percentile.and_then(|_| {
        let (estimate, acceleration) = (estimate.unwrap_or(f64::NAN), acceleration.unwrap_or(f64::NAN));
        replicates.bca(estimate, acceleration, plan.confidence).ok_or(ONE_SIDED)
    });
    [("percentile", percentile), ("bca", bca)]
        .into_iter()
        .map(|(method, bounds)| Interval {
            table: sample.entry.table.clone(),
            entry: column.entry.clone(),
            item: column.item.clone(),
            statistic: "mean".into(),
            method,
            estimate,
            n,
            bounds,
            replicates: Some(replicates.len() as u64),
            seed: Some(plan.seed),
        })
        .collect()
}

/// Values are the sample's `yes`, or 0 for no.
fn yes_no(sample: &PlannedSample, column: &Observed, confidence: f64) -> Vec<Interval> {
    let n = column.present().count() as u64;
    let successes = column.present().filter(|value| *value != 0.0).count() as u64;
    let bounds = proportion::wilson(successes, n, confidence);
    let bounds = bounds.map(|bounds| scaled(bounds, sample.entry.yes)).ok_or(WITHOUT);
    vec![wilson(sample, column.entry.clone(), &column.item, "mean", exact_mean(column.present()), n, bounds)]
}

fn scaled(bounds: Bounds, scale: f64) -> Bounds {
    Bounds { low: bounds.low * scale, high: bounds.high * scale }
}

fn wilson(
    sample: &PlannedSample,
    entry: Entry,
    item: &str,
    statistic: &str,
    estimate: Option<f64>,
    n: u64,
    bounds: Result<Bounds, &'static str>,
) -> Interval {
    Interval {
        table: sample.entry.table.clone(),
        entry,
        item: item.to_owned(),
        statistic: statistic.to_owned(),
        method: "wilson",
        estimate,
        n,
        bounds,
        replicates: None,
        seed: None,
    }
}

fn proportions(sample: &PlannedSample, rows: &SampleRows, confidence: f64) -> Result<Vec<Interval>> {
    let (successes, trials, scales) = (rows.doubles(6)?, rows.counts(7)?, rows.doubles(8)?);
    let of = |row: usize| {
        let (k, n, scale) = (successes[row], trials[row], scales[row]);
        // Of flags on records of any class there can be more than records of the class.
        let bounds = if n == 0 {
            Err(WITHOUT)
        } else if k < 0.0 || k > n as f64 {
            Err(OUTSIDE)
        } else {
            proportion::wilson(k as u64, n, confidence).map(|bounds| scaled(bounds, scale)).ok_or(WITHOUT)
        };
        let estimate = (n > 0).then(|| scale * k / n as f64);
        if k.is_nan() {
            return Err(Error::new(ErrorKind::Config, "a share without a number of successes")
                .with("file", &sample.sql.path)
                .with("item", rows.text(row, 4)));
        }
        Ok(wilson(sample, rows.entry(row), rows.text(row, 4), rows.text(row, 5), estimate, n, bounds))
    };
    (0..rows.len()).map(of).collect()
}

/// Fisher's interval of Pearson's coefficient (Fisher 1921): tanh of atanh r ± z / √(n − 3).
pub fn fisher(r: f64, n: u64, confidence: f64) -> Option<Bounds> {
    if n <= 3 || r.abs() >= 1.0 {
        return None;
    }
    let (centre, half) = (libm::atanh(r), normal::two_sided(confidence) / ((n - 3) as f64).sqrt());
    Some(Bounds { low: libm::tanh(centre - half), high: libm::tanh(centre + half) })
}

/// Rows of samples by entry and item.
pub(super) fn by_entry_and_item(rows: &SampleRows, item: usize) -> BTreeMap<(Entry, String), Vec<usize>> {
    let mut groups: BTreeMap<(Entry, String), Vec<usize>> = BTreeMap::new();
    for row in 0..rows.len() {
        groups.entry((rows.entry(row), rows.text(row, item).to_owned())).or_default().push(row);
    }
    groups
}
