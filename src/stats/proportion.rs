//! Intervals of proportions.

use super::{Bounds, normal};

/// Wilson's score interval of `k` of `n` (Wilson 1927): never of width zero, never outside 0 and 1; `None` without trials.
pub fn wilson(k: u64, n: u64, confidence: f64) -> Option<Bounds> {
    if n == 0 || k > n {
        return None;
    }
    let (k, n) = (k as f64, n as f64);
    let z = normal::two_sided(confidence);
    let share = k / n;
    let base = 1.0 + z * z / n;
    let centre = (share + z * z / (2.0 * n)) / base;
    let half = z / base * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    // At the ends the bound is the end itself, which rounding may miss by a digit.
    let low = if k == 0.0 { 0.0 } else { (centre - half).max(0.0) };
    let high = if k == n { 1.0 } else { (centre + half).min(1.0) };
    Some(Bounds { low, high })
}

/// Two-sided p of the difference of two unpaired proportions, by the pooled normal approximation without continuity correction;
/// `None` where the pooled proportion is 0 or 1.
pub fn unpaired(k_a: u64, n_a: u64, k_b: u64, n_b: u64) -> Option<f64> {
    let (ka, na, kb, nb) = (k_a as f64, n_a as f64, k_b as f64, n_b as f64);
    let pooled = (ka + kb) / (na + nb);
    let variance = pooled * (1.0 - pooled) * (1.0 / na + 1.0 / nb);
    (n_a > 0 && n_b > 0 && variance > 0.0).then(|| normal::two_sided_p((ka / na - kb / nb) / variance.sqrt()))
}
