//! Gates: bounds that a run can be held to, as a pipeline names them and the command line sets them.

use serde::Deserialize;

use super::{Output, Parameter, Pipeline, SqlFile};
use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};

/// The gate that every pipeline with a ranking sample has: no model significantly below the snapshot that its value names.
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

/// A gate that is shut.
#[derive(Debug, Clone)]
pub enum PlannedGate {
    /// Values of a query against a bound.
    Values {
        /// Its name.
        name: String,
        /// The query.
        sql: SqlFile,
        /// The side.
        bound: Bound,
        /// The bound.
        value: f64,
    },
    /// No model significantly below a snapshot.
    NoRegression {
        /// An id, a prefix of one, or a protocol.
        against: String,
    },
}

impl Pipeline {
    /// The gates that are shut: those with a value in the pipeline or on the command line.
    pub(super) fn planned_gates(&self, assets: &Assets, asked: &[(String, Parameter)]) -> Result<Vec<PlannedGate>> {
        let mut planned = Vec::new();
        for entry in &self.gates {
            let sql = self.sql(assets, &entry.sql)?;
            if sql.output != Output::Gate {
                return Err(Error::new(ErrorKind::Config, "a gate needs `-- output: gate`").with("file", &sql.path));
            }
            let own = asked.iter().rev().find(|(name, _)| *name == entry.name).map(|(_, value)| value);
            let value = match own {
                None => entry.value,
                Some(Parameter::Int(value)) => Some(*value as f64),
                Some(Parameter::Float(value)) => Some(*value),
                Some(Parameter::Text(text)) => {
                    return Err(Error::new(ErrorKind::Usage, format!("--gate {}={text}: not a number", entry.name)));
                }
            };
            planned.extend(value.map(|value| PlannedGate::Values {
                name: entry.name.clone(),
                sql,
                bound: entry.bound,
                value,
            }));
        }
        for (name, value) in asked {
            if name == NO_REGRESSION {
                planned.push(PlannedGate::NoRegression { against: value.to_string() });
            } else if !self.gates.iter().any(|entry| entry.name == *name) {
                let names = self.gates.iter().map(|entry| entry.name.as_str()).chain([NO_REGRESSION]);
                return Err(Error::new(ErrorKind::Usage, format!("the pipeline has no gate `{name}`"))
                    .hint(format!("gates: {}", names.collect::<Vec<_>>().join(", "))));
            }
        }
        Ok(planned)
    }
}
