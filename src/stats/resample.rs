//! The bootstrap over units (Efron and Tibshirani 1993): units, not rows, are drawn, so that all scores of one prompt go together.
//!
//! A replicate is a count for every unit. Counts depend on the seed, the replicate and the draw alone, and all columns share them: the
//! difference of two columns' replicates is the replicate of their difference, and any number of threads gives the same digits.

use rayon::prelude::*;

use super::normal;
use crate::random::Random;

/// Columns that one pass over the replicates takes: their rows stay in the processor's first cache.
const COLUMNS_AT_ONCE: usize = 192;

/// How many replicates, and from which seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resampling {
    /// Replicates.
    pub replicates: usize,
    /// Seed.
    pub seed: u64,
}

impl Resampling {
    /// How often each of `units` is drawn in a replicate.
    pub fn counts(self, replicate: usize, units: usize, counts: &mut Vec<u32>) {
        counts.clear();
        counts.resize(units, 0);
        let mut random = Random::at(self.seed, &[replicate as u64]);
        for _ in 0..units {
            counts[random.index(units)] += 1;
        }
    }

    /// Each column's mean in every replicate, Σ w x / Σ w over the units that have a value, added up in the order of units. A column
    /// has a value or NaN a unit; a replicate that drew none of its values is NaN.
    pub fn means(self, units: usize, columns: &[&[f64]]) -> Vec<Vec<f64>> {
        columns.chunks(COLUMNS_AT_ONCE).flat_map(|chunk| self.chunk_means(units, chunk)).collect()
    }

    fn chunk_means(self, units: usize, columns: &[&[f64]]) -> Vec<Vec<f64>> {
        // Columns with the same gaps share one sum of weights.
        let mut gaps: Vec<Vec<bool>> = Vec::new();
        let gap_of: Vec<usize> = columns
            .iter()
            .map(|column| {
                let there: Vec<bool> = column.iter().map(|value| !value.is_nan()).collect();
                gaps.iter().position(|known| *known == there).unwrap_or_else(|| {
                    gaps.push(there);
                    gaps.len() - 1
                })
            })
            .collect();
        let width = columns.len() + gaps.len();
        let mut rows = vec![0.0; units * width];
        for (unit, row) in rows.chunks_exact_mut(width.max(1)).enumerate() {
            for (cell, column) in row.iter_mut().zip(columns) {
                *cell = if column[unit].is_nan() { 0.0 } else { column[unit] };
            }
            for (cell, there) in row[columns.len()..].iter_mut().zip(&gaps) {
                *cell = if there[unit] { 1.0 } else { 0.0 };
            }
        }
        let replicate = |counts: &mut Vec<u32>, replicate: usize| {
            self.counts(replicate, units, counts);
            let mut sums = vec![0.0; width];
            for (count, row) in counts.iter().zip(rows.chunks_exact(width.max(1))) {
                if *count == 0 {
                    continue;
                }
                let weight = f64::from(*count);
                for (sum, cell) in sums.iter_mut().zip(row) {
                    *sum += weight * cell;
                }
            }
            let weights = sums.split_off(columns.len());
            // 0 / 0 is the NaN that is wanted.
            sums.iter().zip(&gap_of).map(|(sum, gap)| sum / weights[*gap]).collect::<Vec<f64>>()
        };
        let means: Vec<Vec<f64>> =
            (0..self.replicates).into_par_iter().map_init(Vec::new, |counts, at| replicate(counts, at)).collect();
        (0..columns.len()).map(|at| means.iter().map(|row| row[at]).collect()).collect()
    }
}

/// Bounds of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// Replicates of a statistic, sorted, without those that are undefined.
#[derive(Debug, Clone)]
pub struct Replicates(Vec<f64>);

impl Replicates {
    /// Sorts them.
    pub fn new(mut values: Vec<f64>) -> Self {
        values.retain(|value| !value.is_nan());
        values.sort_unstable_by(f64::total_cmp);
        Self(values)
    }

    /// How many are defined.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996).
    fn quantile(&self, share: f64) -> f64 {
        let place = share * (self.0.len() - 1) as f64;
        let below = place.floor();
        let (a, b) = (self.0[below as usize], self.0[(below as usize + 1).min(self.0.len() - 1)]);
        let part = place - below;
        if part < 0.5 { a + (b - a) * part } else { b - (b - a) * (1.0 - part) }
    }

    /// The percentile interval; `None` without replicates.
    pub fn percentile(&self, confidence: f64) -> Option<Bounds> {
        let tail = (1.0 - confidence) / 2.0;
        (!self.is_empty()).then(|| Bounds { low: self.quantile(tail), high: self.quantile(1.0 - tail) })
    }

    /// The bias-corrected and accelerated interval (Efron 1987; Efron and Tibshirani 1993, 14.3), ties with the estimate counted half;
    /// `None` where all replicates lie on one side of the estimate, or the acceleration is undefined.
    pub fn bca(&self, estimate: f64, acceleration: f64, confidence: f64) -> Option<Bounds> {
        // A replicate that draws the sample again differs from the estimate by the rounding of its sum.
        let noise = 1e-9 * estimate.abs().max(f64::MIN_POSITIVE);
        let below = self.0.partition_point(|value| *value < estimate - noise);
        let at_most = self.0.partition_point(|value| *value <= estimate + noise);
        let bias = normal::quantile((below + at_most) as f64 / (2 * self.0.len()) as f64);
        let share = |z: f64| normal::cdf(bias + (bias + z) / (1.0 - acceleration * (bias + z)));
        let z = normal::two_sided(confidence);
        let (low, high) = (share(-z), share(z));
        let is_share = |share: f64| (0.0..=1.0).contains(&share);
        (!self.is_empty() && bias.is_finite() && is_share(low) && is_share(high))
            .then(|| Bounds { low: self.quantile(low), high: self.quantile(high) })
    }
}

impl Replicates {
    /// The BCa interval, or the percentile interval where that is undefined, with its name.
    pub fn best(&self, estimate: f64, acceleration: f64, confidence: f64) -> Option<(Bounds, &'static str)> {
        let bca = self.bca(estimate, acceleration, confidence).map(|bounds| (bounds, "bca"));
        bca.or_else(|| self.percentile(confidence).map(|bounds| (bounds, "percentile")))
    }

    /// Whether all are one number: then they say nothing of how it varies.
    pub fn are_equal(&self) -> bool {
        self.0.first() == self.0.last()
    }
}

/// The acceleration of a mean from leaving out one value after the other; `None` if all are equal. For a mean the influences are
/// the distances from it (Efron and Tibshirani 1993, 14.15).
pub fn acceleration(values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let first = values.clone().next()?;
    let differ = values.clone().any(|value| value != first);
    differ.then(|| acceleration_of(values.map(|value| (1.0, value - mean))))?
}

/// The acceleration from the influences of the units, each the estimate less that without the unit, up to one factor, with how
/// many units have it.
pub fn acceleration_of(influences: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let add = |(squares, cubes), (n, u): (f64, f64)| (squares + n * (u * u), cubes + n * (u * u * u));
    let (squares, cubes) = influences.fold((0.0, 0.0), add);
    (squares > 0.0).then(|| cubes / (6.0 * squares * squares.sqrt()))
}
