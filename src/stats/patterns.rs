//! Intervals of precision, recall and F1: the counts of distinct outcomes are drawn from a multinomial distribution, which is what
//! drawing images with replacement gives, at the price of the outcomes and not of the images.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::intervals::{CONSTANT, Interval, ONE, ONE_SIDED};
use super::resample::acceleration_of;
use super::sample::{Entry, SampleRows};
use super::{Bounds, Replicates};
use crate::error::Result;
use crate::pipeline::{PlannedIntervals, PlannedSample};
use crate::random::Random;

/// What one outcome says of one label.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    has: bool,
    says: bool,
}

impl Cell {
    /// Which of hits, false alarms and misses it is, if any.
    fn place(self) -> Option<usize> {
        match (self.has, self.says) {
            (true, true) => Some(0),
            (false, true) => Some(1),
            (true, false) => Some(2),
            (false, false) => None,
        }
    }

    fn add(self, sum: &mut [u64; 3], count: u64) {
        if let Some(place) = self.place() {
            sum[place] += count;
        }
    }

    fn take(self, sum: &mut [u64; 3]) {
        if let Some(place) = self.place() {
            sum[place] -= 1;
        }
    }
}

/// Outcomes of one entry: how often each occurs, and its cells.
#[derive(Default)]
struct Outcomes {
    counts: Vec<u64>,
    cells: Vec<Vec<Cell>>,
    items: Vec<(String, bool)>,
    /// A zero denominator makes zero, and not nothing.
    zero: bool,
}

const STATISTICS: [&str; 3] = ["precision", "recall", "f1"];
const UNDEFINED: &str = "a zero denominator";

pub(super) fn intervals(sample: &PlannedSample, rows: &SampleRows, plan: &PlannedIntervals) -> Result<Vec<Interval>> {
    let mut all = Vec::new();
    for (entry, outcomes) in gathered(rows)? {
        let n: u64 = outcomes.counts.iter().sum();
        let drawn: Vec<Vec<f64>> = (0..plan.replicates)
            .into_par_iter()
            .map(|at| {
                let counts = multinomial(&mut Random::at(plan.seed, &[at as u64]), n, &outcomes.counts);
                outcomes.measures(&outcomes.sums(&counts))
            })
            .collect();
        let estimates = outcomes.measures(&outcomes.sums(&outcomes.counts));
        let influences = outcomes.influences(&estimates);
        for (place, (item, statistic)) in outcomes.named().into_iter().enumerate() {
            let estimate = (!estimates[place].is_nan()).then_some(estimates[place]);
            let replicates = Replicates::new(drawn.iter().map(|row| row[place]).collect());
            let percentile = match n {
                0 | 1 => Err(ONE),
                _ if estimate.is_some() && replicates.are_equal() => Err(CONSTANT),
                _ => estimate.and_then(|_| replicates.percentile(plan.confidence)).ok_or(UNDEFINED),
            };
            let bca = percentile.and_then(|_| {
                let of_place = influences.iter().map(|(count, row)| (*count as f64, row[place]));
                let acceleration = acceleration_of(of_place).ok_or(ONE_SIDED)?;
                replicates.bca(estimates[place], acceleration, plan.confidence).ok_or(ONE_SIDED)
            });
            let row = |method, bounds: Result<Bounds, &'static str>| Interval {
                table: sample.entry.table.clone(),
                entry: entry.clone(),
                item: item.clone(),
                statistic: statistic.into(),
                method,
                estimate,
                n,
                bounds,
                replicates: Some(replicates.len() as u64),
                seed: Some(plan.seed),
            };
            all.push(row("percentile", percentile));
            all.push(row("bca", bca));
        }
    }
    Ok(all)
}

fn gathered(rows: &SampleRows) -> Result<BTreeMap<Entry, Outcomes>> {
    let (counts, is_main) = (rows.counts(5)?, rows.counts(7)?);
    let (has, says, zero) = (rows.counts(8)?, rows.counts(9)?, rows.counts(10)?);
    let mut members: BTreeMap<(Entry, &str), Vec<usize>> = BTreeMap::new();
    let mut items: BTreeMap<String, bool> = BTreeMap::new();
    for (row, is_main) in is_main.iter().enumerate() {
        members.entry((rows.entry(row), rows.text(row, 4))).or_default().push(row);
        items.insert(rows.text(row, 6).to_owned(), *is_main == 1);
    }
    let names: Vec<&String> = items.keys().collect();
    let mut all: BTreeMap<Entry, Outcomes> = BTreeMap::new();
    for ((entry, _), rows_of_it) in members {
        let outcomes = all.entry(entry).or_default();
        let mut cells = vec![Cell::default(); items.len()];
        for row in &rows_of_it {
            if let Ok(place) = names.binary_search_by(|name| name.as_str().cmp(rows.text(*row, 6))) {
                cells[place] = Cell { has: has[*row] == 1, says: says[*row] == 1 };
            }
        }
        outcomes.counts.push(rows_of_it.first().map_or(0, |row| counts[*row]));
        outcomes.cells.push(cells);
        outcomes.zero = rows_of_it.iter().any(|row| zero[*row] == 1);
        outcomes.items = items.iter().map(|(item, is_main)| (item.clone(), *is_main)).collect();
    }
    Ok(all)
}

impl Outcomes {
    fn shares(&self, [tp, fp, fn_]: [u64; 3]) -> [f64; 3] {
        let share = |above: u64, below: u64| match below {
            0 if self.zero => 0.0,
            // 0 / 0 is the NaN that is wanted.
            _ => above as f64 / below as f64,
        };
        [share(tp, tp + fp), share(tp, tp + fn_), share(2 * tp, 2 * tp + fp + fn_)]
    }

    /// Items and statistics in the order of measures: each label's, then macro's and micro's.
    fn named(&self) -> Vec<(String, &'static str)> {
        let labels = self.items.iter().map(|(item, _)| item.clone()).chain(["macro".into(), "micro".into()]);
        labels.flat_map(|label: String| STATISTICS.map(|statistic| (label.clone(), statistic))).collect()
    }

    /// Hits, false alarms and misses of each label.
    fn sums(&self, counts: &[u64]) -> Vec<[u64; 3]> {
        let mut sums = vec![[0; 3]; self.items.len()];
        for (count, cells) in counts.iter().zip(&self.cells).filter(|(count, _)| **count > 0) {
            for (sum, cell) in sums.iter_mut().zip(cells) {
                cell.add(sum, *count);
            }
        }
        sums
    }

    /// Precision, recall and F1 of each label, macro and micro; NaN at a zero denominator, macro over those that are defined.
    fn measures(&self, sums: &[[u64; 3]]) -> Vec<f64> {
        let mut measures: Vec<f64> = sums.iter().flat_map(|sum| self.shares(*sum)).collect();
        let main = || self.items.iter().zip(sums).filter(|((_, is_main), _)| *is_main).map(|(_, sum)| *sum);
        for at in 0..STATISTICS.len() {
            let defined: Vec<f64> = main().map(|sum| self.shares(sum)[at]).filter(|share| !share.is_nan()).collect();
            measures.push(defined.iter().sum::<f64>() / defined.len() as f64);
        }
        measures
            .extend(self.shares(main().fold([0; 3], |all, sum| [all[0] + sum[0], all[1] + sum[1], all[2] + sum[2]])));
        measures
    }

    /// For the images of each outcome, how many there are and the estimates less those without one of them.
    fn influences(&self, estimates: &[f64]) -> Vec<(u64, Vec<f64>)> {
        let whole = self.sums(&self.counts);
        let without = |place: usize| {
            let mut sums = whole.clone();
            sums.iter_mut().zip(&self.cells[place]).for_each(|(sum, cell)| cell.take(sum));
            let influence = |(all, one): (&f64, f64)| if one.is_nan() { 0.0 } else { all - one };
            (self.counts[place], estimates.iter().zip(self.measures(&sums)).map(influence).collect())
        };
        (0..self.counts.len()).into_par_iter().filter(|place| self.counts[*place] > 0).map(without).collect()
    }
}

/// `n` draws with replacement from outcomes that occur so often: binomial counts one after the other, each given those before (the
/// conditional method, Davis 1993).
fn multinomial(random: &mut Random, n: u64, weights: &[u64]) -> Vec<u64> {
    let (mut left, mut weight_left) = (n, n);
    weights
        .iter()
        .map(|weight| {
            let count =
                if *weight == weight_left { left } else { binomial(random, left, *weight as f64 / weight_left as f64) };
            left -= count;
            weight_left -= weight;
            count
        })
        .collect()
}

/// A binomial count by inversion from the mode outwards: the chances of the mode, its neighbours, theirs and so on are taken away
/// from one uniform number (Kemp 1986; about √(n p q) steps).
fn binomial(random: &mut Random, n: u64, p: f64) -> u64 {
    if n == 0 || p <= 0.0 {
        return 0;
    }
    if p >= 1.0 {
        return n;
    }
    let ln = |x: u64| libm::lgamma(x as f64 + 1.0);
    let mode = (((n + 1) as f64) * p).floor().min(n as f64) as u64;
    let at_mode =
        libm::exp(ln(n) - ln(mode) - ln(n - mode) + mode as f64 * libm::log(p) + (n - mode) as f64 * libm::log1p(-p));
    let odds = p / (1.0 - p);
    let mut rest = random.unit() - at_mode;
    if rest < 0.0 {
        return mode;
    }
    let (mut low, mut high) = (mode, mode);
    let (mut p_low, mut p_high) = (at_mode, at_mode);
    while low > 0 || high < n {
        if high < n {
            p_high *= (n - high) as f64 / (high + 1) as f64 * odds;
            high += 1;
            rest -= p_high;
            if rest < 0.0 {
                return high;
            }
        }
        if low > 0 {
            p_low *= low as f64 / (n - low + 1) as f64 / odds;
            low -= 1;
            rest -= p_low;
            if rest < 0.0 {
                return low;
            }
        }
        if p_low + p_high == 0.0 {
            break;
        }
    }
    // What rounding left over.
    mode
}
