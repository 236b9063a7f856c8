//! Tests of paired differences: exact sign test, Wilcoxon's signed ranks, McNemar's exact test; Holm's correction; effect sizes.

use super::normal;

/// Differences that are not zero above which Wilcoxon's distribution is taken as normal.
const EXACT: usize = 50;
/// Trials up to which binomial coefficients are added up as integers.
const WHOLE: u64 = 120;

/// Decimals to which differences are taken: what subtraction leaves behind them is noise, and would part what is tied.
const DECIMALS: f64 = 1e9;

/// A difference of two scores, without the noise of subtraction: equal differences are equal, and none is none.
pub fn difference(a: f64, b: f64) -> f64 {
    let difference = a - b;
    // Above it doubles have no such decimals.
    if difference.abs() < 1e6 { (difference * DECIMALS).round() / DECIMALS } else { difference }
}

/// Two-sided p of the exact sign test: the chance under a fair coin of a split at least as uneven as `better` to `worse`; ties do not
/// count (Dixon and Mood 1946). The same number is McNemar's exact test of discordant pairs (McNemar 1947). 1 without any.
pub fn sign_test(better: u64, worse: u64) -> f64 {
    let (n, k) = (better + worse, better.min(worse));
    let doubled = if n <= WHOLE {
        let mut term = 1_u128;
        let mut sum = 0_u128;
        for i in 0..=k {
            sum += term;
            term = term * u128::from(n - i) / u128::from(i + 1);
        }
        2.0 * sum as f64 / libm::exp2(n as f64)
    } else {
        // Terms relative to the largest one, the last.
        let ln = |x: u64| libm::lgamma(x as f64 + 1.0);
        let largest = libm::exp(ln(n) - ln(k) - ln(n - k) - n as f64 * std::f64::consts::LN_2);
        let (mut term, mut sum) = (1.0, 0.0);
        for i in (0..=k).rev() {
            sum += term;
            term *= i as f64 / (n - i + 1) as f64;
        }
        2.0 * largest * sum
    };
    doubled.min(1.0)
}

/// Wilcoxon's signed ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wilcoxon {
    /// Sum of the ranks of positive differences, midranks for ties, zeros left out.
    pub w_plus: f64,
    /// Differences that are not zero.
    pub n: usize,
    /// Two-sided p; 1 without differences.
    pub p: f64,
    /// Whether p is exact, given the ties, and not by the normal approximation.
    pub is_exact: bool,
}

/// Wilcoxon's signed-rank test (Wilcoxon 1945; zeros left out, Pratt's variant not used). Exact up to 50 differences, given the ties;
/// above that normal, the variance corrected for ties, no continuity correction.
pub fn wilcoxon(differences: &[f64]) -> Wilcoxon {
    let (ranks, n) = doubled_ranks(differences);
    let w: u64 = ranks.iter().filter(|(positive, _)| *positive).map(|(_, rank)| rank).sum();
    let w_plus = w as f64 / 2.0;
    if n == 0 {
        return Wilcoxon { w_plus, n, p: 1.0, is_exact: true };
    }
    if n <= EXACT {
        return Wilcoxon { w_plus, n, p: exact_p(&ranks, w), is_exact: true };
    }
    let mean = (n * (n + 1)) as f64 / 4.0;
    // Midranks square to less than ranks: this is the variance with its correction for ties.
    let squares: f64 = ranks.iter().map(|(_, rank)| (*rank as f64) * (*rank as f64)).sum();
    let deviation = (squares / 16.0).sqrt();
    Wilcoxon { w_plus, n, p: normal::two_sided_p((w_plus - mean) / deviation), is_exact: false }
}

/// Sign and twice the midrank of each difference that is not zero.
fn doubled_ranks(differences: &[f64]) -> (Vec<(bool, u64)>, usize) {
    let mut sizes: Vec<(f64, bool)> =
        differences.iter().filter(|value| **value != 0.0).map(|value| (value.abs(), *value > 0.0)).collect();
    sizes.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut ranks = Vec::with_capacity(sizes.len());
    while let Some((size, _)) = sizes.get(ranks.len()) {
        let first = ranks.len();
        let tied = sizes[first..].iter().take_while(|other| other.0 == *size).count();
        ranks.extend(sizes[first..first + tied].iter().map(|(_, positive)| (*positive, (2 * first + tied + 1) as u64)));
    }
    let n = ranks.len();
    (ranks, n)
}

/// Over all signs of the ranks, counted by dynamic programming over their sum.
fn exact_p(ranks: &[(bool, u64)], w: u64) -> f64 {
    let total: u64 = ranks.iter().map(|(_, rank)| rank).sum();
    let mut ways = vec![0_u64; total as usize + 1];
    ways[0] = 1;
    for (_, rank) in ranks {
        for sum in (*rank as usize..ways.len()).rev() {
            ways[sum] += ways[sum - *rank as usize];
        }
    }
    let (low, high) = (&ways[..=w as usize], &ways[w as usize..]);
    let tail = low.iter().sum::<u64>().min(high.iter().sum());
    (2.0 * tail as f64 / libm::exp2(ranks.len() as f64)).min(1.0)
}

/// Matched-pairs rank-biserial correlation, (W+ − W−) / (W+ + W−), from −1 to 1 (Kerby 2014); `None` without differences.
pub fn rank_biserial(differences: &[f64]) -> Option<f64> {
    let (ranks, n) = doubled_ranks(differences);
    let signed: i64 = ranks.iter().map(|(positive, rank)| if *positive { *rank as i64 } else { -(*rank as i64) }).sum();
    (n > 0).then(|| signed as f64 / (n * (n + 1)) as f64)
}

/// Cohen's d of paired differences, d_z: their mean by their standard deviation with n − 1 (Cohen 1988); `None` where that is zero.
pub fn cohen_dz(differences: &[f64]) -> Option<f64> {
    let n = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / n;
    let squares: f64 = differences.iter().map(|value| (value - mean) * (value - mean)).sum();
    let deviation = (squares / (n - 1.0)).sqrt();
    (deviation > 0.0).then(|| mean / deviation)
}

/// Holm's step-down correction (Holm 1979): p-values that may each be held against the level by itself.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut corrected = vec![0.0; p.len()];
    let mut most = 0.0_f64;
    for (place, at) in order.into_iter().enumerate() {
        most = most.max(((p.len() - place) as f64 * p[at]).min(1.0));
        corrected[at] = most;
    }
    corrected
}
