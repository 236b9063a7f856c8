//! Text-to-image evaluation data to Parquet, scored with SQL, published as snapshots that recompute to the same bytes.
//!
#![doc = include_str!("../ARCHITECTURE.md")]

pub mod assets;
pub mod cli;
pub mod correlation;
pub mod error;
pub mod exact;
pub mod explore;
pub mod fetch;
pub mod grid;
pub mod ingest;
pub mod lake;
pub mod pipeline;
pub mod publish;
pub mod published;
pub mod python;
pub mod random;
pub mod report;
pub mod schema;
pub mod score;
pub mod snapshot;
pub mod source;
pub mod stair;
pub mod stats;
pub mod store;
pub mod synth;
