//! Sums and means of doubles that do not depend on order: exact in between, rounded once at the end.
//!
//! A group holds an `i128` in steps of 2^-64 while every value is a multiple of that step and the sum fits (scores and
//! means of scores do); a group that sees anything else moves to a [`SuperAccumulator`], which holds every finite double.

mod groups;
mod round;
mod sum;
mod superaccumulator;
mod udaf;

pub use sum::ExactSum;
pub use superaccumulator::SuperAccumulator;
pub use udaf::{exact_avg, exact_sum};
