//! All tests, in one binary: DataFusion is linked once.
#![expect(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "a test fails by panicking")]

/// A real S3 server on loopback, for the tests of stores.
mod s3;
/// A small HTTP server on loopback whose answers a test decides.
mod server;
/// The binary in a folder of its own, and the shared files where they exist.
mod util;

/// AGIQA-3K: the real file, agreement, MOS from ratings, StairReward parts.
mod agiqa;
/// Bad input: each gets a clear error or the state its case names.
mod bad_input;
/// A lake in a bucket: the same bytes, two writers, kills, credentials.
mod bucket;
/// Cases A and B of judge replies: both readings, ledger and score, end to end.
mod cases;
/// Faults that were found once in intervals, comparisons, verification and gates.
mod certainty;
/// Commands, formats, exit codes, and the texts of the mistakes people make.
mod command_line;
/// Comparisons, published figures, differences and gates.
mod comparing;
/// Documents and folders agree with the code.
mod conventions;
/// Agreement with human scores: coefficients and fits against exact references.
mod correlation;
/// What holds for every dataset; published figures; a sixth dataset.
mod datasets;
/// DataFusion against Polars and against plain Python.
mod engines;
/// Exact sums and means: against hand-worked values, big rationals and any order.
mod exact;
/// Exports: workbooks, JSON, CSV, the script's own files.
mod export;
/// FAGER: the real collection, gates, comparisons.
mod fager;
/// The hub's files: redirects, cut connections, limits, gates, the cache.
mod fetch;
/// Inputs from the web, from buckets and out of archives.
mod inputs;
/// Judged files of one's own model, and what is told of how they were made.
mod judged;
/// Sources, idempotence, replacement, duplicates, kills and concurrency.
mod lake;
/// MagicBench: real files, three protocols by hand, odd records.
mod magicbench;
/// MagicData340K: labels, two readings, detection and rewards by hand.
mod magicdata;
/// Faults that were found once in the newer datasets.
mod mended;
/// The real metadata file.
mod metadata;
/// Q4: what the official reading makes of a reply, rule by rule, worked out by hand.
mod official;
/// Snapshots published to others.
mod publish;
/// Python's dialect of JSON, `int()` and `strip()`.
mod python;
/// Faults that were found once: repeated records, cut-short publishing, shared content.
mod repeats;
/// Scores and ledger against a second, naive computation over the same replies.
mod second_opinion;
/// The same snapshot for other threads, batch sizes, orders and splits; digests; verify.
mod snapshots;
/// Intervals, tests and ranks against independent values, and what they promise.
mod statistics;
/// Faults that were found once in stores, inputs from elsewhere and publishing.
mod stores;
/// Q5: what the strict reading makes of a reply, rule by rule, worked out by hand.
mod strict;
/// Made data: the same bytes for the same seed, and the samples.
mod synth;
/// Upkeep of the lake.
mod upkeep;
