//! Agreement of a metric with human scores: Spearman (SRCC), Kendall's tau-b (KRCC), Pearson (PLCC), and Pearson after a
//! five-parameter logistic map, each the same to the last digit whatever the order of the pairs.
//!
//! Pairs are sorted before anything is added up, ranks and concordance are counted in integers, and transcendental functions
//! come from `libm`, so that no machine gives other digits.

mod kendall;
mod logistic;
mod pearson;
mod rank;
mod udaf;

pub use logistic::{Fit, fit};
pub use udaf::{agreement, krcc, plcc, srcc};

use std::fmt;

/// Pairs of a prediction and a human score, sorted; pairs with a value that is not finite are left out.
#[derive(Debug, Clone, Default)]
pub struct Pairs {
    /// Predictions, ascending.
    pub x: Vec<f64>,
    /// Human scores, in the order of the predictions, ascending among equal ones.
    pub y: Vec<f64>,
}

/// Why a coefficient is undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undefined {
    /// There are no two pairs.
    TooFew,
    /// All predictions, or all human scores, are equal.
    Constant,
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooFew => "fewer than 2 pairs",
            Self::Constant => "constant input",
        })
    }
}

/// A coefficient, or why there is none.
pub type Coefficient = Result<f64, Undefined>;

impl Pairs {
    /// Sorts pairs.
    pub fn new(pairs: impl IntoIterator<Item = (f64, f64)>) -> Self {
        // Adding zero makes -0 and 0 one value.
        let finite = pairs.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite());
        let mut pairs: Vec<(f64, f64)> = finite.map(|(x, y)| (x + 0.0, y + 0.0)).collect();
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (x, y) = pairs.into_iter().unzip();
        Self { x, y }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Refuses pairs of which no coefficient is defined.
    fn require_spread(&self) -> Result<(), Undefined> {
        let is_constant = |values: &[f64]| values.windows(2).all(|pair| pair[0] == pair[1]);
        if self.len() < 2 {
            return Err(Undefined::TooFew);
        }
        if is_constant(&self.x) || is_constant(&self.y) { Err(Undefined::Constant) } else { Ok(()) }
    }

    /// Spearman's rank correlation (SRCC): Pearson's coefficient of average ranks, from -1 to 1.
    pub fn srcc(&self) -> Coefficient {
        self.require_spread()?;
        Ok(rank::spearman(self))
    }

    /// Kendall's tau-b (KRCC), which corrects for ties in either (Kendall 1945), from -1 to 1; in O(n log n) (Knight 1966).
    pub fn krcc(&self) -> Coefficient {
        self.require_spread()?;
        Ok(kendall::tau_b(self))
    }

    /// Pearson's linear correlation (PLCC) of the values as they are, from -1 to 1.
    pub fn plcc(&self) -> Coefficient {
        self.require_spread()?;
        Ok(pearson::pearson(&self.x, &self.y))
    }
}
