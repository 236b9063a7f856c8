//! What is scored: a pipeline as written ([`Pipeline`]) becomes what will be done ([`Plan`]) before any data is opened.

mod gate;
mod plan;
mod published;
mod sample;
mod sql_file;

pub use gate::{Bound, GateEntry, NO_REGRESSION, PlannedGate};
pub use plan::{Choices, Plan, PlannedCheck, PlannedFinding, PlannedStep};
pub use published::{AS_SCORED, CellAt, CellEntry, PublishedEntry, SensitivityEntry, VariantEntry};
pub use sample::{IntervalsEntry, PlannedIntervals, PlannedSample, SampleEntry, SampleKind};
pub use sql_file::{Output, SqlFile};

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::dataset::Dataset;

/// A value bound to a `$name` in SQL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Parameter {
    /// Integer.
    Int(i64),
    /// Double.
    Float(f64),
    /// Text.
    Text(String),
}

/// As a person would write it.
impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => value.fmt(f),
            Self::Text(value) => f.write_str(value),
        }
    }
}

/// A parameter as written: one value, or one by name. Names that are the protocols give a value by protocol; other names
/// are appended (`score_map = { "0" = … }` is `$score_map_0`).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum ParameterEntry {
    /// One value.
    One(Parameter),
    /// Values by name.
    Many(BTreeMap<String, Parameter>),
}

/// One query.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Name under which later steps see it.
    pub name: String,
    /// The file, relative to `sql/`.
    pub sql: String,
    /// Runs only if these hold: `protocol`, or a parameter of text type.
    #[serde(default)]
    pub when: BTreeMap<String, String>,
    /// Left out by `--intervals none`: it says how sure the numbers are, and is none of them.
    #[serde(default)]
    pub with_intervals: bool,
}

/// A query that must return no row.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The file, relative to `sql/`.
    pub sql: String,
    /// Runs only if these hold.
    #[serde(default)]
    pub when: BTreeMap<String, String>,
    /// What to do if it fails, where the data and not the pipeline is at fault.
    #[serde(default)]
    pub hint: Option<String>,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Good to know.
    Note,
    /// Changes how the numbers may be read.
    Warning,
    /// Something was left out: the snapshot is partial.
    Partial,
}

/// A question whose answer the reader of the numbers should know.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingEntry {
    /// The file, relative to `sql/`; it gives one row (n, detail).
    pub sql: String,
    /// How much it matters.
    pub level: Level,
    /// What is told, with `{n}` and `{detail}`.
    pub text: String,
    /// Told also if n is 0.
    #[serde(default)]
    pub always: bool,
}

/// A pipeline file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// Name.
    pub name: String,
    /// Dataset id.
    pub dataset: String,
    /// Result tables that a run shows: the first one that has rows; the one after it is suggested.
    pub show: Vec<String>,
    /// Raised whenever the same rows would give other digits.
    pub metric_version: u32,
    /// Protocols; the first is the default.
    pub protocols: Vec<String>,
    /// Parameters.
    #[serde(default)]
    pub parameters: BTreeMap<String, ParameterEntry>,
    /// Steps, in order.
    #[serde(rename = "step")]
    pub steps: Vec<Step>,
    /// Checks, after the steps.
    #[serde(default, rename = "check")]
    pub checks: Vec<Check>,
    /// Findings, after the checks.
    #[serde(default, rename = "finding")]
    pub findings: Vec<FindingEntry>,
    /// Samples, from which intervals, comparisons and ranks are drawn.
    #[serde(default, rename = "sample")]
    pub samples: Vec<SampleEntry>,
    /// How intervals are made; none without.
    #[serde(default)]
    pub intervals: Option<IntervalsEntry>,
    /// Published tables and where their figures stand in the results.
    #[serde(default)]
    pub published: Vec<PublishedEntry>,
    /// Other rules by which the numbers could have been made.
    #[serde(default, rename = "variant")]
    pub variants: Vec<VariantEntry>,
    /// What the numbers would be by other rules, as the table `sensitivity`.
    #[serde(default)]
    pub sensitivity: Option<SensitivityEntry>,
    /// Bounds that a run can be held to.
    #[serde(default, rename = "gate")]
    pub gates: Vec<GateEntry>,
    /// The text it was read from.
    #[serde(skip)]
    pub text: String,
    /// The file on disk, if it is not a built-in one.
    #[serde(skip)]
    pub path: Option<PathBuf>,
}

impl Pipeline {
    /// A built-in pipeline by its name or dataset id, or a pipeline file by a path ending in `.toml`.
    pub fn load(assets: &Assets, name: &str) -> Result<Self> {
        if name.ends_with(".toml") {
            let path = Path::new(name);
            let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, "read the pipeline", e))?;
            return Ok(Self { path: Some(path.to_path_buf()), ..Self::parse(text, name)? });
        }
        let own = format!("pipelines/{name}.toml");
        let path = if assets.list("pipelines", "toml")?.contains(&own) {
            own
        } else {
            let dataset = Dataset::find(assets, name).map_err(|e| {
                e.hint("give a dataset id (see `scorelake datasets`) or a pipeline file ending in .toml")
            })?;
            format!("pipelines/{}.toml", dataset.id)
        };
        Self::parse(assets.text(&path)?, &path)
    }

    /// The built-in pipelines of a dataset, its own one first.
    pub fn of_dataset(assets: &Assets, dataset: &str) -> Result<Vec<Self>> {
        let own = format!("pipelines/{dataset}.toml");
        let all = assets.list("pipelines", "toml")?;
        let others = all.iter().filter(|path| **path != own);
        let all = std::iter::once(&own).chain(others).map(|path| Self::parse(assets.text(path)?, path));
        let all = all.collect::<Result<Vec<_>>>()?;
        Ok(all.into_iter().filter(|pipeline| pipeline.dataset == dataset).collect())
    }

    fn parse(text: String, path: &str) -> Result<Self> {
        let invalid = |message: String| Error::new(ErrorKind::Config, message).with("pipeline", path);
        let pipeline: Self = toml::from_str(&text).map_err(|e| invalid(e.to_string()).caused_by(e))?;
        if pipeline.show.is_empty() {
            return Err(invalid("`show` is empty: name the result tables that a run shows".into()));
        }
        if pipeline.protocols.is_empty() {
            return Err(invalid("`protocols` is empty".into()));
        }
        // Protocols and steps become file names and SQL names.
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_lowercase())
                && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        let names = pipeline.protocols.iter().chain(pipeline.steps.iter().map(|step| &step.name));
        if let Some(name) = names.into_iter().find(|name| !is_name(name)) {
            return Err(invalid(format!("`{name}` is no name for a protocol or step"))
                .hint("lower-case letters, digits and underscores, a letter first"));
        }
        let steps = pipeline.steps.iter().map(|step| (&step.sql, &step.when));
        for (sql, when) in steps.chain(pipeline.checks.iter().map(|check| (&check.sql, &check.when))) {
            for key in when.keys() {
                let is_text = matches!(pipeline.parameters.get(key), Some(ParameterEntry::One(Parameter::Text(_))));
                if key != "protocol" && !is_text {
                    return Err(invalid(format!(
                        "{sql}: `when` names `{key}`, which is neither `protocol` nor a text parameter"
                    )));
                }
            }
        }
        if pipeline.variants.iter().any(|variant| variant.name == AS_SCORED) {
            return Err(invalid(format!("a variant may not be called `{AS_SCORED}`")));
        }
        let samples = pipeline.samples.iter().map(|sample| ("sample", &sample.name));
        let gates = pipeline.gates.iter().map(|gate| ("gate", &gate.name));
        let variants = pipeline.variants.iter().map(|variant| ("variant", &variant.name));
        let mut seen = std::collections::BTreeSet::new();
        if let Some((kind, name)) = samples.chain(gates).chain(variants).find(|named| !seen.insert(*named)) {
            return Err(invalid(format!("two entries [[{kind}]] are called `{name}`")));
        }
        Ok(Self { text, ..pipeline })
    }

    /// A SQL file: beside the pipeline file, in the `sql` folder in or next to its folder, or an asset.
    fn sql(&self, assets: &Assets, file: &str) -> Result<SqlFile> {
        if let Some(folder) = self.path.as_ref().and_then(|path| path.parent()) {
            let name = Path::new(file).file_name().map_or_else(|| folder.join(file), |name| folder.join(name));
            for candidate in [name, folder.join(file), folder.join("sql").join(file), folder.join("../sql").join(file)]
            {
                if candidate.is_file() {
                    let text = std::fs::read_to_string(&candidate).map_err(|e| Error::io(&candidate, "read", e))?;
                    return SqlFile::parse(&candidate.to_string_lossy(), text);
                }
            }
        }
        let path = format!("sql/{file}");
        SqlFile::parse(&path, assets.text(&path)?)
    }
}
