//! Intervals of SRCC, KRCC and PLCC: a bootstrap over pairs up to so many, the jackknife or Fisher's transformation above.

use rayon::prelude::*;

use super::intervals::{CONSTANT, Interval, ONE_SIDED, by_entry_and_item, fisher};
use super::resample::acceleration_of;
use super::sample::SampleRows;
use super::{Bounds, Replicates, Resampling, normal};
use crate::correlation::{Coefficient, Pairs};
use crate::error::Result;
use crate::pipeline::{PlannedIntervals, PlannedSample};

/// Pairs up to which replicates are drawn; a replicate sorts all of them.
const MOST: usize = 20_000;
/// Groups of pairs that the jackknife leaves out one after the other.
const BLOCKS: usize = 200;
/// Pairs up to which BCa leaves out every single one.
const SINGLY: usize = 2_000;

type Measure = fn(&Pairs) -> Coefficient;
const MEASURES: [(&str, Measure); 3] = [("srcc", Pairs::srcc), ("krcc", Pairs::krcc), ("plcc", Pairs::plcc)];

/// The intervals of a sample of pairs.
pub(super) fn intervals(sample: &PlannedSample, rows: &SampleRows, plan: &PlannedIntervals) -> Result<Vec<Interval>> {
    let (x, y) = (rows.doubles(6)?, rows.doubles(7)?);
    let mut all = Vec::new();
    for ((entry, item), members) in by_entry_and_item(rows, 4) {
        // In the order of units, so that a draw means the same pair whatever the order of rows.
        let mut members: Vec<usize> =
            members.into_iter().filter(|row| !x[*row].is_nan() && !y[*row].is_nan()).collect();
        members.sort_by(|a, b| rows.text(*a, 5).cmp(rows.text(*b, 5)));
        let pairs: Vec<(f64, f64)> = members.iter().map(|row| (x[*row], y[*row])).collect();
        for CoefficientInterval { statistic, method, estimate, bounds, replicates } in
            coefficient_intervals(&pairs, plan)
        {
            all.push(Interval {
                table: sample.entry.table.clone(),
                entry: entry.clone(),
                item: item.clone(),
                statistic: statistic.into(),
                method,
                estimate,
                n: pairs.len() as u64,
                bounds,
                replicates,
                seed: replicates.map(|_| plan.seed),
            });
        }
    }
    Ok(all)
}

/// The interval of one coefficient of pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct CoefficientInterval {
    /// srcc, krcc or plcc.
    pub statistic: &'static str,
    /// percentile, bca, jackknife or fisher.
    pub method: &'static str,
    /// The coefficient.
    pub estimate: Option<f64>,
    /// The bounds, or why there are none.
    pub bounds: Result<Bounds, &'static str>,
    /// Replicates that are defined, of a bootstrap.
    pub replicates: Option<u64>,
}

const UNDEFINED: &str = "the coefficient is undefined";

/// The intervals of SRCC, KRCC and PLCC of pairs: percentile and BCa up to 20,000 pairs, the jackknife or Fisher's above.
pub fn coefficient_intervals(pairs: &[(f64, f64)], plan: &PlannedIntervals) -> Vec<CoefficientInterval> {
    let whole = Pairs::new(pairs.iter().copied());
    let estimates: Vec<Option<f64>> = MEASURES.iter().map(|(_, measure)| measure(&whole).ok()).collect();
    if pairs.len() > MOST {
        return large(pairs, &estimates, plan);
    }
    let resampling = Resampling { replicates: plan.replicates, seed: plan.seed };
    let replicate = |counts: &mut Vec<u32>, at: usize| {
        resampling.counts(at, pairs.len(), counts);
        let drawn =
            pairs.iter().zip(counts.iter()).flat_map(|(pair, count)| std::iter::repeat_n(*pair, *count as usize));
        let drawn = Pairs::new(drawn);
        MEASURES.map(|(_, measure)| measure(&drawn).unwrap_or(f64::NAN))
    };
    let drawn: Vec<[f64; 3]> = if estimates.iter().any(Option::is_some) {
        (0..plan.replicates).into_par_iter().map_init(Vec::new, |counts, at| replicate(counts, at)).collect()
    } else {
        Vec::new()
    };
    let without = left_out(pairs, if pairs.len() <= SINGLY { pairs.len() } else { BLOCKS });
    let mut rows = Vec::new();
    for (at, (statistic, _)) in MEASURES.iter().enumerate() {
        let replicates = Replicates::new(drawn.iter().map(|row| row[at]).collect());
        let count = Some(replicates.len() as u64);
        let percentile = match estimates[at] {
            Some(_) if replicates.are_equal() => Err(CONSTANT),
            Some(_) => replicates.percentile(plan.confidence).ok_or(UNDEFINED),
            None => Err(UNDEFINED),
        };
        let bca = percentile.and_then(|_| {
            let estimate = estimates[at].unwrap_or(f64::NAN);
            let acceleration =
                acceleration_of(influences(&without, at).into_iter().map(|u| (1.0, u))).ok_or(ONE_SIDED)?;
            replicates.bca(estimate, acceleration, plan.confidence).ok_or(ONE_SIDED)
        });
        let (statistic, estimate) = (*statistic, estimates[at]);
        for (method, bounds) in [("percentile", percentile), ("bca", bca)] {
            rows.push(CoefficientInterval { statistic, method, estimate, bounds, replicates: count });
        }
    }
    rows
}

/// The coefficients with one of so many interleaved blocks of pairs left out.
fn left_out(pairs: &[(f64, f64)], blocks: usize) -> Vec<[f64; 3]> {
    let without = |block: usize| {
        let kept = pairs.iter().enumerate().filter(|(at, _)| at % blocks != block).map(|(_, pair)| *pair);
        let kept = Pairs::new(kept);
        MEASURES.map(|(_, measure)| measure(&kept).unwrap_or(f64::NAN))
    };
    (0..blocks).into_par_iter().map(without).collect()
}

/// Mean of the values with a block left out, less each of them.
fn influences(without: &[[f64; 3]], at: usize) -> Vec<f64> {
    let values: Vec<f64> = without.iter().map(|row| row[at]).filter(|value| !value.is_nan()).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.into_iter().map(|value| mean - value).collect()
}

/// Of very many pairs: Fisher's interval for PLCC, the jackknife over blocks (Quenouille 1956; Tukey 1958) for SRCC and KRCC.
fn large(pairs: &[(f64, f64)], estimates: &[Option<f64>], plan: &PlannedIntervals) -> Vec<CoefficientInterval> {
    let without = left_out(pairs, BLOCKS);
    let z = normal::two_sided(plan.confidence);
    let row = |(at, &(statistic, _)): (usize, &(&'static str, Measure))| {
        let estimate = estimates[at];
        if statistic == "plcc" {
            let bounds = estimate.and_then(|r| fisher(r, pairs.len() as u64, plan.confidence));
            let bounds = bounds.ok_or(UNDEFINED);
            return CoefficientInterval { statistic, method: "fisher", estimate, bounds, replicates: None };
        }
        let influences = influences(&without, at);
        let blocks = influences.len() as f64;
        let deviation = ((blocks - 1.0) / blocks * influences.iter().map(|u| u * u).sum::<f64>()).sqrt();
        let bounds = estimate.map(|estimate| Bounds {
            low: (estimate - z * deviation).max(-1.0),
            high: (estimate + z * deviation).min(1.0),
        });
        let bounds = bounds.ok_or(UNDEFINED);
        CoefficientInterval { statistic, method: "jackknife", estimate, bounds, replicates: None }
    };
    MEASURES.iter().enumerate().map(row).collect()
}
