//! Kendall's tau-b by counting inversions while merging.

use super::Pairs;

/// (concordant − discordant) / √((pairs not tied in x)(pairs not tied in y)).
pub(super) fn tau_b(pairs: &Pairs) -> f64 {
    let n = pairs.len() as u128;
    let all = n * (n - 1) / 2;
    let (x, mut y) = (&pairs.x, pairs.y.clone());
    let tied_x = tied(x.len(), |a, b| x[a] == x[b]);
    let tied_both = tied(x.len(), |a, b| x[a] == x[b] && y[a] == y[b]);
    let mut scratch = vec![0.0; y.len()];
    let discordant = inversions(&mut y, &mut scratch);
    // Now in order, so that equal ones stand together.
    let tied_y = tied(y.len(), |a, b| y[a] == y[b]);
    // Pairs tied in both stand in both counts.
    let concordant = all + tied_both - tied_x - tied_y - discordant;
    let difference = concordant as i128 - discordant as i128;
    let base = (((all - tied_x) as f64) * ((all - tied_y) as f64)).sqrt();
    (difference as f64 / base).clamp(-1.0, 1.0)
}

/// Pairs within runs of neighbours that are the same.
fn tied(n: usize, is_same: impl Fn(usize, usize) -> bool) -> u128 {
    let mut pairs = 0;
    let mut run = 0_u128;
    for at in 1..n {
        run = if is_same(at - 1, at) { run + 1 } else { 0 };
        pairs += run;
    }
    pairs
}

/// Sorts; gives how many pairs stood in descending order.
fn inversions(values: &mut [f64], scratch: &mut [f64]) -> u128 {
    let n = values.len();
    if n < 2 {
        return 0;
    }
    let middle = n / 2;
    let (left, right) = values.split_at_mut(middle);
    let mut count = inversions(left, &mut scratch[..middle]) + inversions(right, &mut scratch[middle..]);
    let (mut a, mut b) = (0, middle);
    for slot in &mut *scratch {
        // Of equal ones the left one first: they are no inversion.
        if b == n || a < middle && values[a] <= values[b] {
            *slot = values[a];
            a += 1;
        } else {
            *slot = values[b];
            b += 1;
            count += (middle - a) as u128;
        }
    }
    values.copy_from_slice(scratch);
    count
}
