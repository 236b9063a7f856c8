//! Two models on the prompts that both have: the difference, its interval, and whether it could be chance.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::intervals::exact_mean;
use super::sample::{Entry, Observations, Observed};
use super::{Bounds, Replicates, Resampling, acceleration, paired, proportion};
use crate::pipeline::{PlannedIntervals, PlannedSample, SampleKind};

/// A comparison of two entries in one item. Differences are the first less the second.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What both are compared within.
    pub scope: String,
    /// The first.
    pub a: Entry,
    /// The second.
    pub b: Entry,
    /// Name of the sample.
    pub sample: String,
    /// The item; empty for the table's own score.
    pub item: String,
    /// Units that both have.
    pub n: u64,
    /// Mean of the first over them.
    pub mean_a: Option<f64>,
    /// Mean of the second.
    pub mean_b: Option<f64>,
    /// Mean difference.
    pub difference: Option<f64>,
    /// Its bootstrap interval over units, BCa where defined, else percentile.
    pub bounds: Option<Bounds>,
    /// Its method.
    pub method: Option<&'static str>,
    /// With a margin: the interval of the two one-sided tests, which lies within the margin where both are equivalent.
    pub tost: Option<Bounds>,
    /// Units on which the first is better.
    pub better: u64,
    /// Units on which both are the same.
    pub same: u64,
    /// Units on which it is worse.
    pub worse: u64,
    /// Exact sign test; of yes/no values McNemar's exact test.
    pub p_sign: f64,
    /// Wilcoxon's signed ranks; none for yes/no values, where it says no more than the sign test.
    pub p_wilcoxon: Option<f64>,
    /// As if the units were not shared: two proportions, for yes/no values alone.
    pub p_unpaired: Option<f64>,
    /// The main test's p: Wilcoxon's, of yes/no values McNemar's.
    pub p: f64,
    /// The same, Holm-corrected over the comparisons of its sample, scope and judge that have common units.
    pub p_holm: f64,
    /// Cohen's d of paired differences.
    pub cohen_dz: Option<f64>,
    /// Matched-pairs rank-biserial correlation.
    pub rank_biserial: Option<f64>,
    /// What the numbers say.
    pub verdict: Verdict,
}

/// What a comparison comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing to compare.
    NoCommonUnit,
    /// The first is better, by the corrected test.
    FirstBetter,
    /// The second is.
    SecondBetter,
    /// Test and mean point in different directions: most prompts go one way, and the mean the other.
    Mixed,
    /// No prompt differs.
    Identical,
    /// The difference is within the margin, by both one-sided tests.
    Equivalent,
    /// A difference, and yet within the margin.
    EquivalentThoughDifferent,
    /// Neither a difference nor its absence is shown.
    NotSeparated,
}

/// How comparisons are made.
#[derive(Debug, Clone, Copy)]
pub struct Comparing {
    /// Replicates and seed.
    pub resampling: Resampling,
    /// Confidence of the intervals; what it leaves is the level of the tests.
    pub confidence: f64,
    /// Differences up to it do not matter.
    pub margin: Option<f64>,
}

impl Comparing {
    /// As the pipeline has its intervals.
    pub fn new(plan: &PlannedIntervals, margin: Option<f64>) -> Self {
        let resampling = Resampling { replicates: plan.replicates, seed: plan.seed };
        Self { resampling, confidence: plan.confidence, margin }
    }
}

/// p of the test that a comparison is judged by, McNemar's exact test for yes/no values, else Wilcoxon's signed ranks; and whether the
/// mean points where the test does.
pub(super) fn main_test(kind: SampleKind, differences: &[f64]) -> (f64, bool) {
    let count = |is: fn(&&f64) -> bool| differences.iter().filter(is).count() as u64;
    let (better, worse) = (count(|value| **value > 0.0), count(|value| **value < 0.0));
    let (p, direction) = if kind == SampleKind::YesNo {
        (paired::sign_test(better, worse), better as f64 - worse as f64)
    } else {
        (paired::wilcoxon(differences).p, paired::rank_biserial(differences).unwrap_or(0.0))
    };
    let sum: f64 = differences.iter().sum();
    (p, direction * sum > 0.0)
}

/// The comparison of two columns of one set of units; the correction is still to be made.
fn compare_columns(
    sample: &PlannedSample,
    (a, b): (&Observed, &Observed),
    differences: &[f64],
    means: &[f64],
    comparing: Comparing,
) -> Comparison {
    let there: Vec<f64> = differences.iter().copied().filter(|value| !value.is_nan()).collect();
    let common = |values: &[f64]| -> Vec<f64> {
        values.iter().zip(differences).filter(|(_, difference)| !difference.is_nan()).map(|(value, _)| *value).collect()
    };
    let (values_a, values_b) = (common(&a.values), common(&b.values));
    let n = there.len() as u64;
    let count = |is: fn(&&f64) -> bool| there.iter().filter(is).count() as u64;
    let (better, worse) = (count(|value| **value > 0.0), count(|value| **value < 0.0));
    let is_yes_no = sample.entry.kind == SampleKind::YesNo;
    let difference = exact_mean(there.iter().copied());
    let (bounds, tost) = interval(&there, means, difference, comparing);
    let inside = |bounds: Bounds| comparing.margin.is_some_and(|margin| bounds.low > -margin && bounds.high < margin);
    let successes = |values: &[f64]| values.iter().filter(|value| **value != 0.0).count() as u64;
    let (p, points_alike) = main_test(sample.entry.kind, &there);
    let verdict = match n {
        0 => Verdict::NoCommonUnit,
        _ if better + worse == 0 => Verdict::Identical,
        _ if tost.is_some_and(inside) => Verdict::Equivalent,
        _ if !points_alike => Verdict::Mixed,
        _ => Verdict::NotSeparated,
    };
    Comparison {
        scope: a.entry.scope.clone(),
        a: a.entry.clone(),
        b: b.entry.clone(),
        sample: sample.entry.name.clone(),
        item: a.item.clone(),
        n,
        mean_a: exact_mean(values_a.iter().copied()),
        mean_b: exact_mean(values_b.iter().copied()),
        difference,
        bounds: bounds.map(|(bounds, _)| bounds),
        method: bounds.map(|(_, method)| method),
        tost,
        better,
        same: n - better - worse,
        worse,
        p_sign: paired::sign_test(better, worse),
        p_wilcoxon: (!is_yes_no).then(|| paired::wilcoxon(&there).p),
        p_unpaired: is_yes_no.then(|| proportion::unpaired(successes(&values_a), n, successes(&values_b), n)).flatten(),
        p,
        p_holm: p,
        cohen_dz: paired::cohen_dz(&there),
        rank_biserial: paired::rank_biserial(&there),
        verdict,
    }
}

/// The interval of the mean difference with its method, and with a margin that of two one-sided tests at the level (Schuirmann 1987), the
/// interval of twice the level; none where all differences are the same: nothing is known of how they vary.
fn interval(
    there: &[f64],
    means: &[f64],
    difference: Option<f64>,
    comparing: Comparing,
) -> (Option<(Bounds, &'static str)>, Option<Bounds>) {
    let (Some(acceleration), Some(estimate)) = (acceleration(there.iter().copied()), difference) else {
        return (None, None);
    };
    let replicates = Replicates::new(means.to_vec());
    let narrow = 1.0 - 2.0 * (1.0 - comparing.confidence);
    let tost = comparing.margin.filter(|_| narrow > 0.0).and_then(|_| replicates.best(estimate, acceleration, narrow));
    (replicates.best(estimate, acceleration, comparing.confidence), tost.map(|(bounds, _)| bounds))
}

/// Corrects the comparisons of one sample for their number and judges them.
fn corrected(mut comparisons: Vec<Comparison>, comparing: Comparing) -> Vec<Comparison> {
    let mut families: BTreeMap<(String, String, String), Vec<usize>> = BTreeMap::new();
    for (at, one) in comparisons.iter().enumerate().filter(|(_, one)| one.n > 0) {
        let family = (one.sample.clone(), one.scope.clone(), one.a.judge.clone());
        families.entry(family).or_default().push(at);
    }
    for members in families.into_values() {
        let p: Vec<f64> = members.iter().map(|at| comparisons[*at].p).collect();
        for (at, p) in members.into_iter().zip(paired::holm(&p)) {
            let one = &mut comparisons[at];
            one.p_holm = p;
            let differs = p < 1.0 - comparing.confidence;
            let first = one.difference.is_some_and(|difference| difference > 0.0);
            one.verdict = match (one.verdict, differs, first) {
                (Verdict::Equivalent, true, _) => Verdict::EquivalentThoughDifferent,
                (Verdict::NotSeparated, true, true) => Verdict::FirstBetter,
                (Verdict::NotSeparated, true, false) => Verdict::SecondBetter,
                (Verdict::Mixed, false, _) => Verdict::NotSeparated,
                (verdict, ..) => verdict,
            };
        }
    }
    comparisons
}

/// Compares pairs of entries in every item that both have.
pub fn compare(
    samples: &[&PlannedSample],
    observations: &[Observations],
    pairs: &[(Entry, Entry)],
    comparing: Comparing,
) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for set in observations {
        let mut work = Vec::new();
        for (a, b) in pairs {
            let of =
                |entry: &Entry| set.columns.iter().filter(move |column| column.entry == *entry).collect::<Vec<_>>();
            let others = of(b);
            for own in of(a) {
                let twin = |other: &&&Observed| other.sample == own.sample && other.item == own.item;
                if let Some(other) = others.iter().find(twin) {
                    work.push((own, *other));
                }
            }
        }
        let difference = |(a, b): &(&Observed, &Observed)| {
            a.values.iter().zip(&b.values).map(|(a, b)| paired::difference(*a, *b)).collect()
        };
        let differences: Vec<Vec<f64>> = work.iter().map(difference).collect();
        let columns: Vec<&[f64]> = differences.iter().map(Vec::as_slice).collect();
        let means = comparing.resampling.means(set.units.len(), &columns);
        let one = |place: usize| {
            let sample = samples[work[place].0.sample];
            compare_columns(sample, work[place], &differences[place], &means[place], comparing)
        };
        comparisons.extend((0..work.len()).into_par_iter().map(one).collect::<Vec<_>>());
    }
    corrected(comparisons, comparing)
}

/// A unit on which two entries differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What both are compared within.
    pub scope: String,
    /// The unit.
    pub unit: String,
    /// Value of the first.
    pub a: f64,
    /// Value of the second.
    pub b: f64,
}

/// The units on which the scores of two entries in one item differ most, the largest first.
pub fn changes(
    observations: &[Observations],
    sample: usize,
    item: &str,
    a: &Entry,
    b: &Entry,
    most: usize,
) -> Vec<Change> {
    let mut all = Vec::new();
    for set in observations {
        let of = |entry: &Entry| {
            set.columns.iter().find(|column| column.sample == sample && column.item == item && column.entry == *entry)
        };
        let (Some(one), Some(other)) = (of(a), of(b)) else { continue };
        for ((unit, a_value), b_value) in set.units.iter().zip(&one.values).zip(&other.values) {
            if paired::difference(*a_value, *b_value).abs() > 0.0 {
                all.push(Change { scope: a.scope.clone(), unit: unit.clone(), a: *a_value, b: *b_value });
            }
        }
    }
    let size = |change: &Change| (change.a - change.b).abs();
    all.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.unit.cmp(&b.unit)));
    all.truncate(most);
    all
}
