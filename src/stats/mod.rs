//! Uncertainty: intervals beside scores, paired comparisons, ranks that chance might have given, agreement of rankings.
//!
//! Everything is drawn from samples: values of units (mostly prompts) that a pipeline names. The same sample gives intervals at
//! scoring time and comparisons of a snapshot later.

mod compare;
mod drift;
mod intervals;
pub mod normal;
pub mod paired;
mod patterns;
pub mod proportion;
mod rank_correlation;
mod rankings;
pub mod ranks;
mod resample;
mod sample;
mod sensitivity;
mod stage;
mod standings;

pub use compare::{Change, Comparing, Comparison, Verdict, changes, compare};
pub use drift::{Drift, chi_squared, chi_squared_p, drift};
pub use intervals::{Estimated, Interval, estimate, exact_mean, fisher};
pub use rank_correlation::{CoefficientInterval, coefficient_intervals};
pub use rankings::{Agreement, Board, Drawn, rankings};
pub use resample::{Bounds, Replicates, Resampling, acceleration, acceleration_of};
pub use sample::{Entry, Observations, Observed, SampleRows, side_by_side};
pub use sensitivity::{ByRule, by_rule};
pub use stage::{Sources, add_tables};
pub use standings::{Standing, standings};
