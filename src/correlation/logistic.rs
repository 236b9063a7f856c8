//! The five-parameter logistic map of a metric to human scores that image quality studies fit before Pearson's coefficient:
//! b1 (1/2 − 1/(1 + exp(b2 (x − b3)))) + b4 x + b5 (VQEG 2003; Sheikh, Sabir and Bovik 2006).
//!
//! The fit has several local minima, and with b2 free often none that is global but a jump between two points. So what comes out
//! is defined by what is done: x is standardised by its population deviation, and turned to rise with the human scores; from each of a fixed list of (b2, b3) the other
//! three parameters are solved for, which covers both signs; the best of these are refined by Levenberg-Marquardt (Marquardt 1963)
//! on the normal equations of sorted pairs, with b2 of standardised x above 0 and at most 100; of the runs that converged the one
//! with the least squares is taken.

use std::cmp::Ordering;

use super::pearson::{Sum, pearson, sum};
use super::{Pairs, Undefined};

/// Slopes of standardised x that runs start from.
const SLOPES: [f64; 7] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
/// Places, as quantiles of x.
const PLACES: [f64; 7] = [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95];
/// Steps of one deviation that x is taken in.
const STEPS_OF_ONE: f64 = 4_294_967_296.0;
/// Starts that are refined at most.
const REFINED: usize = 12;
/// Steepest slope of standardised x.
const STEEPEST: f64 = 100.0;
/// Of more pairs than this, starts are tried and refined on so many, evenly spaced in the order of x; the best minima go on with
/// all.
const MANY: usize = 20_000;
const GO_ON: usize = 3;
/// Steps of a run at most.
const STEPS: u32 = 60;
/// Steps by Gauss-Newton's matrix, before those by Newton's.
const FAR: u32 = 10;
/// Difference of slope (in proportion) and place by which second derivatives are found.
const DIFFERENCE: f64 = 1e-5;
/// A run has converged when no parameter's gradient, relative to its column and the residuals, is larger.
const GRADIENT: f64 = 1e-8;
/// What rounding leaves of a residual, as a part of the human scores.
const ROUNDING: f64 = 1e-14;
/// Pairs below which five parameters say nothing.
const FEWEST: usize = 6;

/// A fitted map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// b1 to b5 for x as it came; b2 is positive.
    pub betas: [f64; 5],
    /// Sum of squared residuals.
    pub sse: f64,
    /// √(sse / n).
    pub rmse: f64,
    /// Pearson's coefficient of mapped predictions and human scores; none if the map is constant.
    pub plcc: Option<f64>,
    /// Slope of the start that won, of standardised x.
    pub start_slope: f64,
    /// Place of the start that won, as a quantile of x.
    pub start_place: f64,
    /// Steps of the run that won.
    pub iterations: u32,
    /// Whether that run converged.
    pub converged: bool,
}

/// Why there is no fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfitted {
    /// Fewer than 6 pairs.
    TooFew,
    /// A coefficient is undefined.
    Undefined(Undefined),
    /// No start can be solved for: fewer than 3 different predictions, or values beyond the range of doubles when squared.
    Singular,
}

impl std::fmt::Display for Unfitted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooFew => write!(f, "no fit to fewer than {FEWEST} pairs"),
            Self::Undefined(undefined) => undefined.fmt(f),
            Self::Singular => f.write_str("no fit: fewer than 3 different predictions, or too far apart"),
        }
    }
}

/// Fits the map.
pub fn fit(pairs: &Pairs) -> Result<Fit, Unfitted> {
    pairs.require_spread().map_err(Unfitted::Undefined)?;
    if pairs.len() < FEWEST {
        return Err(Unfitted::TooFew);
    }
    let n = pairs.len() as f64;
    // In units of the largest value, so that squares neither overflow nor vanish.
    let unit = pairs.x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let mean = sum(pairs.x.iter().map(|x| x / unit)) / n;
    let deviation = (sum(pairs.x.iter().map(|x| (x / unit - mean) * (x / unit - mean))) / n).sqrt();
    // In steps far below what a fit can tell, and turned so that it rises with the human scores: predictions that are a straight map
    // of each other, falling ones too, then have one and the same fit, and not one of several minima by the luck of rounding.
    let step = |x: &f64| ((x / unit - mean) / deviation * STEPS_OF_ONE).round() / STEPS_OF_ONE;
    let y_mean = sum(pairs.y.iter().copied()) / n;
    let rises = sum(pairs.x.iter().zip(&pairs.y).map(|(x, y)| step(x) * (y - y_mean))) >= 0.0;
    let turn = if rises { 1.0 } else { -1.0 };
    let oriented = Pairs::new(pairs.x.iter().zip(&pairs.y).map(|(x, y)| (turn * step(x), *y)));
    let z = &oriented.x;
    let all = Problem { z, y: &oriented.y };
    let best = if z.len() <= MANY {
        // The first of equals, so the order of the starts decides and nothing else.
        all.runs().into_iter().min_by(|(a, ..), (b, ..)| a.order(b))
    } else {
        let chosen = || (0..MANY).map(|at| (at as u128 * z.len() as u128 / MANY as u128) as usize);
        let (some_z, some_y): (Vec<f64>, Vec<f64>) = chosen().map(|at| (z[at], oriented.y[at])).unzip();
        let few = Problem { z: &some_z, y: &some_y };
        let mut runs = few.runs();
        runs.sort_by(|(a, ..), (b, ..)| a.order(b));
        // Several starts end at one minimum.
        runs.dedup_by(|(a, ..), (b, ..)| (a.sse - b.sse).abs() <= 1e-6 * b.sse);
        let go_on = |(run, slope, place): (Run, f64, f64)| {
            Some((all.refined(all.projected(run.betas[1], run.betas[2])?), slope, place))
        };
        runs.into_iter().take(GO_ON).filter_map(go_on).min_by(|(a, ..), (b, ..)| a.order(b))
    };
    let Some((run, start_slope, start_place)) = best else { return Err(Unfitted::Singular) };
    let mapped: Vec<f64> = z.iter().map(|z| value(&run.betas, *z)).collect();
    let is_constant = mapped.windows(2).all(|pair| pair[0] == pair[1]);
    Ok(Fit {
        betas: raw(turned(run.betas, turn), mean * unit, deviation * unit),
        sse: run.sse,
        rmse: (run.sse / n).sqrt(),
        plcc: (!is_constant).then(|| pearson(&mapped, &oriented.y)),
        start_slope,
        start_place,
        iterations: run.iterations,
        converged: run.converged,
    })
}

/// Parameters of z as those of `turn` times z, for a turn of 1 or −1.
fn turned([b1, b2, b3, b4, b5]: [f64; 5], turn: f64) -> [f64; 5] {
    [b1, turn * b2, turn * b3, turn * b4, b5]
}

/// Parameters of standardised x as those of raw x, with b2 positive: (b1, b2) and (−b1, −b2) are one curve.
fn raw([b1, b2, b3, b4, b5]: [f64; 5], mean: f64, deviation: f64) -> [f64; 5] {
    let sign = if b2 < 0.0 { -1.0 } else { 1.0 };
    [sign * b1, sign * b2 / deviation, b3 * deviation + mean, b4 / deviation, b5 - b4 * mean / deviation]
}

fn value(&[b1, b2, b3, b4, b5]: &[f64; 5], z: f64) -> f64 {
    b1 * (0.5 - 1.0 / (1.0 + libm::exp(b2 * (z - b3)))) + b4 * z + b5
}

struct Problem<'a> {
    z: &'a [f64],
    y: &'a [f64],
}

struct Run {
    betas: [f64; 5],
    sse: f64,
    iterations: u32,
    converged: bool,
}

impl Run {
    /// What converged comes first, then fewer squares.
    fn order(&self, other: &Self) -> Ordering {
        (!self.converged).cmp(&!other.converged).then(self.sse.total_cmp(&other.sse))
    }
}

/// Normal equations at a point.
struct Equations {
    matrix: [[f64; 5]; 5],
    gradient: [f64; 5],
    sse: f64,
}

impl Problem<'_> {
    fn pairs(&self) -> impl Iterator<Item = (f64, f64)> {
        self.z.iter().copied().zip(self.y.iter().copied())
    }

    fn sse(&self, betas: &[f64; 5]) -> f64 {
        sum(self.pairs().map(|(z, y)| {
            let residual = y - value(betas, z);
            residual * residual
        }))
    }

    /// The runs from the best starts, each with the slope and place it started from: first those that are better than all their
    /// neighbours in the list, then the others.
    fn runs(&self) -> Vec<(Run, f64, f64)> {
        let start = |slope: f64, place: f64| {
            let betas = self.projected(slope, quantile(self.z, place))?;
            Some((self.sse(&betas), betas))
        };
        let grid: Vec<Vec<_>> =
            SLOPES.iter().map(|slope| PLACES.iter().map(|place| start(*slope, *place)).collect()).collect();
        let sse = |i: usize, j: usize| grid.get(i).and_then(|row| row.get(j)?.as_ref()).map(|(sse, _)| *sse);
        let mut starts = Vec::new();
        for (i, slope) in SLOPES.iter().enumerate() {
            for (j, place) in PLACES.iter().enumerate() {
                let Some((own, betas)) = grid[i][j] else { continue };
                let around = (0..9).filter(|at| *at != 4);
                let neighbours =
                    around.filter_map(|at| sse((i + at / 3).wrapping_sub(1), (j + at % 3).wrapping_sub(1)));
                let is_lowest = neighbours.into_iter().all(|other| own <= other);
                starts.push((!is_lowest, own, betas, *slope, *place));
            }
        }
        starts.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        starts
            .into_iter()
            .take(REFINED)
            .map(|(_, _, betas, slope, place)| (self.refined(betas), slope, place))
            .collect()
    }

    /// The best b1, b4 and b5 for a given slope and place: a linear problem.
    fn projected(&self, slope: f64, place: f64) -> Option<[f64; 5]> {
        let mut matrix = [[Sum::default(); 3]; 3];
        let mut right = [Sum::default(); 3];
        for (z, y) in self.pairs() {
            let row = [0.5 - 1.0 / (1.0 + libm::exp(slope * (z - place))), z, 1.0];
            for i in 0..3 {
                right[i].add(row[i] * y);
                for j in 0..=i {
                    matrix[i][j].add(row[i] * row[j]);
                }
            }
        }
        let mut solved = matrix.map(|row| row.map(Sum::value));
        (0..3).for_each(|i| (0..i).for_each(|j| solved[j][i] = solved[i][j]));
        let [b1, b4, b5] = solve(solved, right.map(Sum::value))?;
        Some([b1, slope, place, b4, b5])
    }

    fn equations(&self, betas: &[f64; 5]) -> Equations {
        let [b1, b2, b3, ..] = *betas;
        let mut matrix = [[0.0; 5]; 5];
        let mut gradient = [0.0; 5];
        let mut squares = Sum::default();
        for (z, y) in self.pairs() {
            let s = 1.0 / (1.0 + libm::exp(b2 * (z - b3)));
            let slope = b1 * s * (1.0 - s);
            let row = [0.5 - s, slope * (z - b3), -slope * b2, z, 1.0];
            let residual = y - (b1 * (0.5 - s) + betas[3] * z + betas[4]);
            squares.add(residual * residual);
            for i in 0..5 {
                gradient[i] += row[i] * residual;
                for j in 0..=i {
                    matrix[i][j] += row[i] * row[j];
                }
            }
        }
        (0..5).for_each(|i| (0..i).for_each(|j| matrix[j][i] = matrix[i][j]));
        Equations { matrix, gradient, sse: squares.value() }
    }

    /// The step in slope and place by the matrix of second derivatives, from differences of the gradient; `None` where that
    /// matrix leads to no minimum.
    fn newton_step(&self, betas: &[f64; 5], at: &Equations, damping: f64) -> Option<[f64; 2]> {
        let [_, slope, place, ..] = *betas;
        let gradient = |slope: f64, place: f64| {
            let there = self.equations(&self.projected(slope, place)?);
            Some([there.gradient[1], there.gradient[2]])
        };
        let (by_slope, by_place) = (DIFFERENCE * slope, DIFFERENCE);
        let (one, other) = (gradient(slope + by_slope, place)?, gradient(slope, place + by_place)?);
        let here = [at.gradient[1], at.gradient[2]];
        // The gradient is that of half the squares with its sign turned.
        let a = (here[0] - one[0]) / by_slope * (1.0 + damping);
        let c = (here[1] - other[1]) / by_place * (1.0 + damping);
        let b = ((here[1] - one[1]) / by_slope + (here[0] - other[0]) / by_place) / 2.0;
        let determinant = a * c - b * b;
        (a > 0.0 && determinant > 0.0)
            .then(|| [(here[0] * c - here[1] * b) / determinant, (here[1] * a - here[0] * b) / determinant])
    }

    /// Levenberg-Marquardt over slope and place alone: the other three are solved for at every point (variable projection,
    /// Golub and Pereyra 1973), which keeps runs out of the long valleys that five free parameters have.
    fn refined(&self, start: [f64; 5]) -> Run {
        let mut betas = start;
        let mut at = self.equations(&betas);
        let rounding = ROUNDING * sum(self.y.iter().map(|y| y * y)).sqrt();
        let mut damping = 1e-3;
        let mut iterations = 0;
        while iterations < STEPS && damping < 1e10 {
            iterations += 1;
            // Far from a minimum Gauss-Newton's matrix is the safer one, near it Newton's is the faster.
            let newton = if iterations > FAR { self.newton_step(&betas, &at, damping) } else { None };
            let step = newton.or_else(|| {
                let mut damped = at.matrix;
                [1, 2].into_iter().for_each(|i| damped[i][i] *= 1.0 + damping);
                solve(damped, at.gradient).map(|step| [step[1], step[2]])
            });
            let next = step.map(|step| (betas[1] + step[0], betas[2] + step[1]));
            let better = next.filter(|(slope, _)| *slope > 0.0 && *slope <= STEEPEST).and_then(|(slope, place)| {
                let next = self.projected(slope, place)?;
                let there = self.equations(&next);
                (there.sse <= at.sse).then_some((next, there))
            });
            let Some((next, there)) = better else {
                damping *= 8.0;
                continue;
            };
            (betas, at) = (next, there);
            damping = (damping / 10.0).max(1e-12);
            if is_flat(&at, rounding) {
                break;
            }
        }
        Run { converged: is_flat(&at, rounding), betas, sse: at.sse, iterations }
    }
}

/// A quantile of sorted values, between neighbours in proportion: the same from both ends.
fn quantile(sorted: &[f64], place: f64) -> f64 {
    let at = place * (sorted.len() - 1) as f64;
    let (below, above) = (at.floor() as usize, at.ceil() as usize);
    sorted[below] + (at - at.floor()) * (sorted[above] - sorted[below])
}

/// Whether the residuals are at right angles to every column, as far as they are more than rounding.
fn is_flat(at: &Equations, rounding: f64) -> bool {
    let residuals = GRADIENT * at.sse.sqrt() + rounding;
    (0..5).all(|i| at.gradient[i].abs() <= at.matrix[i][i].sqrt() * residuals)
}

/// Solves a symmetric positive definite system by Cholesky's decomposition, scaled to a unit diagonal; `None` if it is singular.
fn solve<const N: usize>(matrix: [[f64; N]; N], right: [f64; N]) -> Option<[f64; N]> {
    let scale: [f64; N] = std::array::from_fn(|i| matrix[i][i].sqrt());
    if scale.iter().any(|scale| !scale.is_finite() || *scale <= 0.0) {
        return None;
    }
    let mut lower = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..=i {
            let mut rest = matrix[i][j] / (scale[i] * scale[j]);
            (0..j).for_each(|k| rest -= lower[i][k] * lower[j][k]);
            if i == j {
                if rest <= 1e-14 {
                    return None;
                }
                lower[i][i] = rest.sqrt();
            } else {
                lower[i][j] = rest / lower[j][j];
            }
        }
    }
    let mut solution = [0.0; N];
    for i in 0..N {
        let mut rest = right[i] / scale[i];
        (0..i).for_each(|k| rest -= lower[i][k] * solution[k]);
        solution[i] = rest / lower[i][i];
    }
    for i in (0..N).rev() {
        (i + 1..N).for_each(|k| solution[i] -= lower[k][i] * solution[k]);
        solution[i] /= lower[i][i];
    }
    (0..N).for_each(|i| solution[i] /= scale[i]);
    Some(solution)
}
