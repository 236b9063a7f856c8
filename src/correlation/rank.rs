//! Spearman's coefficient, with average ranks for ties, in integers up to the last division.

use super::Pairs;

/// Twice the average rank of each value, from 2; `order` lists the places of the values in ascending order.
fn double_ranks(values: &[f64], order: &[usize]) -> Vec<i64> {
    let mut ranks = vec![0; values.len()];
    let mut first = 0;
    while first < order.len() {
        let tied = order[first..].iter().take_while(|place| values[**place] == values[order[first]]).count();
        // Ranks first + 1 to first + tied; twice their mean.
        let rank = (2 * first + tied + 1) as i64;
        order[first..first + tied].iter().for_each(|place| ranks[*place] = rank);
        first += tied;
    }
    ranks
}

pub(super) fn spearman(pairs: &Pairs) -> f64 {
    let n = pairs.len();
    let x_order: Vec<usize> = (0..n).collect();
    let mut y_order = x_order.clone();
    y_order.sort_unstable_by(|a, b| pairs.y[*a].total_cmp(&pairs.y[*b]));
    let (x, y) = (double_ranks(&pairs.x, &x_order), double_ranks(&pairs.y, &y_order));
    // Distances from the mean of twice the ranks, n + 1, are whole numbers.
    let centre = n as i64 + 1;
    let (mut products, mut x_squares, mut y_squares) = (0_i128, 0_i128, 0_i128);
    for (x, y) in x.into_iter().zip(y) {
        let (x, y) = (i128::from(x - centre), i128::from(y - centre));
        products += x * y;
        x_squares += x * x;
        y_squares += y * y;
    }
    (products as f64 / (x_squares as f64 * y_squares as f64).sqrt()).clamp(-1.0, 1.0)
}
