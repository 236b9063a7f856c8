//! Samples: the values that intervals, comparisons and ranks are drawn from, as a pipeline names them.

use serde::{Deserialize, Serialize};

use super::{Output, Pipeline, SqlFile};
use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};

/// What the rows of a sample are, and so what its intervals are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleKind {
    /// A value a unit and item; the statistic is their mean.
    Mean,
    /// The same of values that are one number for yes and 0 for no.
    YesNo,
    /// Successes and trials.
    Proportion,
    /// Distinct outcomes of yes/no labels and how often each occurs; the statistics are precision, recall and F1.
    Patterns,
    /// A prediction and a human score a unit; the statistics are SRCC, KRCC and PLCC.
    Pairs,
}

impl SampleKind {
    /// The columns that its query gives, in order.
    pub fn columns(self) -> &'static [&'static str] {
        match self {
            Self::Mean | Self::YesNo => &["scope", "model", "model_revision", "judge", "item", "unit", "value"],
            Self::Proportion => {
                &["scope", "model", "model_revision", "judge", "item", "statistic", "successes", "n", "scale"]
            }
            Self::Patterns => &[
                "scope",
                "model",
                "model_revision",
                "judge",
                "pattern",
                "n",
                "item",
                "is_main",
                "has",
                "says",
                "zero_division",
            ],
            Self::Pairs => &["scope", "model", "model_revision", "judge", "item", "unit", "x", "y"],
        }
    }

    /// Whether it has a value a unit.
    pub fn has_units(self) -> bool {
        matches!(self, Self::Mean | Self::YesNo)
    }
}

/// A sample as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SampleEntry {
    /// Name, for `--intervals` and `--items`.
    pub name: String,
    /// The result table whose numbers it is about.
    pub table: String,
    /// What its rows are.
    pub kind: SampleKind,
    /// The file, relative to `sql/`.
    pub sql: String,
    /// Of yes/no values: what yes is worth.
    #[serde(default = "one")]
    pub yes: f64,
    /// Its values order the leaderboard.
    #[serde(default)]
    pub ranks: bool,
    /// Where it ranks: the leaderboard's column of the score.
    #[serde(default)]
    pub column: Option<String>,
    /// Where it ranks: the leaderboard's column that is the scope.
    #[serde(default)]
    pub scope_column: Option<String>,
    /// A unit of one scope is none of another: each scope is resampled by itself.
    #[serde(default)]
    pub units_by_scope: bool,
    /// Its query needs steps that a snapshot does not keep: intervals when scoring, no comparisons later.
    #[serde(default)]
    pub while_scoring: bool,
}

fn one() -> f64 {
    1.0
}

/// How intervals are made, as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntervalsEntry {
    /// Names of the samples that have intervals without being asked for.
    pub default: Vec<String>,
    /// Confidence of the intervals, and of rank intervals.
    pub confidence: f64,
    /// Replicates of the bootstrap.
    pub replicates: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// A sample with its query.
#[derive(Debug, Clone)]
pub struct PlannedSample {
    /// As written.
    pub entry: SampleEntry,
    /// The query.
    pub sql: SqlFile,
}

impl PlannedSample {
    /// Requires the columns of the sample's kind.
    pub(crate) fn require_columns(&self, found: &[&str]) -> Result<()> {
        let wanted = self.entry.kind.columns();
        if found == wanted {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Config, "the query's columns are not those of its kind of sample")
            .with("file", &self.sql.path)
            .with("found", found.join(", "))
            .with("wanted", wanted.join(", ")))
    }
}

/// Which intervals a run makes, and how; in the snapshot's manifest too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedIntervals {
    /// Names of the samples.
    pub samples: Vec<String>,
    /// Confidence.
    pub confidence: f64,
    /// Replicates of the bootstrap.
    pub replicates: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
}

/// Replicates at most: every score has so many numbers in memory.
const MOST: usize = 1_000_000;

impl Pipeline {
    /// The samples with their queries.
    pub fn planned_samples(&self, assets: &Assets) -> Result<Vec<PlannedSample>> {
        let planned = |entry: &SampleEntry| {
            let sql = self.sql(assets, &entry.sql)?;
            let invalid = |message: String| Error::new(ErrorKind::Config, message).with("file", &sql.path);
            if sql.output != Output::Sample {
                return Err(invalid("a sample needs `-- output: sample`".into()));
            }
            if sql.name != entry.name {
                return Err(invalid(format!("the header's name is not the sample's name `{}`", entry.name)));
            }
            Ok(PlannedSample { entry: entry.clone(), sql })
        };
        self.samples.iter().map(planned).collect()
    }

    /// What `--intervals` asks for: `none`, `all`, `default`, or names separated by commas. Without `[intervals]` there are none.
    pub(super) fn planned_intervals(&self, asked: Option<&str>) -> Result<Option<PlannedIntervals>> {
        let Some(entry) = &self.intervals else {
            return match asked {
                None | Some("none" | "default") => Ok(None),
                Some(_) => Err(Error::new(ErrorKind::Usage, "the pipeline has no intervals")
                    .hint("it needs a section [intervals] and samples")),
            };
        };
        let known = || self.samples.iter().map(|sample| sample.name.clone());
        let samples: Vec<String> = match asked {
            Some("none") => return Ok(None),
            None | Some("default") => entry.default.clone(),
            Some("all") => known().collect(),
            Some(names) => names.split(',').map(|name| name.trim().to_owned()).collect(),
        };
        if let Some(name) = samples.iter().find(|name| !known().any(|sample| sample == **name)) {
            let names: Vec<String> = known().collect();
            return Err(Error::new(ErrorKind::Usage, format!("no sample `{name}` to take intervals of"))
                .hint(format!("none, default, all, or some of {}", names.join(","))));
        }
        // The manifest and the tables have the seed as a signed integer.
        let is_seed = i64::try_from(entry.seed).is_ok();
        let is_share = entry.confidence > 0.0 && entry.confidence < 1.0;
        if !(is_share && (1..=MOST).contains(&entry.replicates) && is_seed) {
            return Err(Error::new(
                ErrorKind::Config,
                format!("[intervals]: confidence between 0 and 1, 1 to {MOST} replicates, a seed below 2^63"),
            ));
        }
        Ok(Some(PlannedIntervals {
            samples,
            confidence: entry.confidence,
            replicates: entry.replicates,
            seed: entry.seed,
        }))
    }
}
