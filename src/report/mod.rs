//! Rows as text: for people in tables, for programs in full precision.

pub mod export;
mod format;
mod table;

pub use format::{Format, write_batches};
pub use table::{TableOptions, render};
pub(crate) use table::{chance, printable};
