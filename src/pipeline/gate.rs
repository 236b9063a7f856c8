//! Gates: bounds that a run can be held to, as a pipeline names them and the command line sets them.

use serde::Deserialize;

use super::{Output, Pipeline, SqlFile};
use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};

/// The gate that every pipeline with scores of units has: no model significantly below the snapshot that its value names.
pub const NO_REGRESSION: &str = "no_regression";

/// On which side of its bound a value must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Not below it.
    AtLeast,
    /// Not above it.
    AtMost,
}

/// A gate as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateEntry {
    /// Name, for `--gate NAME=VALUE`.
    pub name: String,
    /// The file, relative to `sql/`; its rows are (what, value).
    pub sql: String,
    /// On which side of the bound each value must be.
    pub bound: Bound,
    /// The bound of every run; without it the gate is open unless the command line sets one.
    #[serde(default)]
    pub value: Option<f64>,
}

/// A gate with its query.
#[derive(Debug, Clone)]
pub enum PlannedGate {
    /// Values of a query against a bound; without one it is open.
    Values {
        /// Its name.
        name: String,
        /// The query.
        sql: SqlFile,
        /// The side.
        bound: Bound,
        /// The bound.
        value: Option<f64>,
    },
    /// No model significantly below a snapshot.
    NoRegression {
        /// An id, a prefix of one, or a protocol.
        against: String,
    },
}

impl Pipeline {
    /// The gates with their bounds, from the command line or else the pipeline.
    pub(super) fn planned_gates(&self, assets: &Assets, asked: &[(String, String)]) -> Result<Vec<PlannedGate>> {
        let mut planned = Vec::new();
        for entry in &self.gates {
            let sql = self.sql(assets, &entry.sql)?;
            if sql.output != Output::Gate {
                return Err(Error::new(ErrorKind::Config, "a gate needs `-- output: gate`").with("file", &sql.path));
            }
            let own = asked.iter().rev().find(|(name, _)| *name == entry.name).map(|(_, value)| value);
            let value = match own {
                None => entry.value,
                Some(text) => match text.parse::<f64>() {
                    Ok(value) if value.is_finite() => Some(value),
                    _ => {
                        return Err(Error::new(
                            ErrorKind::Usage,
                            format!("--gate {}={text}: not a number", entry.name),
                        ));
                    }
                },
            };
            planned.push(PlannedGate::Values { name: entry.name.clone(), sql, bound: entry.bound, value });
        }
        for (name, value) in asked {
            if name == NO_REGRESSION {
                if !self.samples.iter().any(|sample| sample.kind.has_units() && !sample.while_scoring) {
                    return Err(Error::new(
                        ErrorKind::Usage,
                        format!("{NO_REGRESSION} needs scores of prompts or images, which {} has none of", self.name),
                    ));
                }
                planned.push(PlannedGate::NoRegression { against: value.clone() });
            } else if !self.gates.iter().any(|entry| entry.name == *name) {
                let names = self.gates.iter().map(|entry| entry.name.as_str()).chain([NO_REGRESSION]);
                return Err(Error::new(ErrorKind::Usage, format!("the pipeline has no gate `{name}`"))
                    .hint(format!("gates: {}", names.collect::<Vec<_>>().join(", "))));
            }
        }
        Ok(planned)
    }
}
