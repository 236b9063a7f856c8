//! Pearson's coefficient in two passes with compensated sums.

/// A sum that keeps what rounding takes away (Neumaier 1974).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    pub(super) fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        self.lost += if self.sum.abs() >= value.abs() { (self.sum - sum) + value } else { (value - sum) + self.sum };
        self.sum = sum;
    }

    pub(super) fn value(self) -> f64 {
        self.sum + self.lost
    }
}

pub(super) fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let mut total = Sum::default();
    values.for_each(|value| total.add(value));
    total.value()
}

/// Distances from the mean, the largest of them scaled to 1: squares then neither overflow nor vanish.
pub(super) fn centred(values: &[f64]) -> Vec<f64> {
    let largest = values.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    let scale = if largest > 0.0 { largest } else { 1.0 };
    let mean = sum(values.iter().map(|value| value / scale)) / values.len() as f64;
    let distances: Vec<f64> = values.iter().map(|value| value / scale - mean).collect();
    let furthest = distances.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    if furthest > 0.0 { distances.into_iter().map(|distance| distance / furthest).collect() } else { distances }
}

/// Pearson's coefficient of values that are not all equal.
pub(super) fn pearson(x: &[f64], y: &[f64]) -> f64 {
    let (x, y) = (centred(x), centred(y));
    let products = sum(x.iter().zip(&y).map(|(x, y)| x * y));
    let squares = |values: &[f64]| sum(values.iter().map(|value| value * value));
    (products / (squares(&x) * squares(&y)).sqrt()).clamp(-1.0, 1.0)
}
