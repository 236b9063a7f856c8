//! What a pipeline says of published tables, and of the other rules by which its numbers could have been made.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Choices, Parameter, Pipeline, Plan};
use crate::assets::Assets;
use crate::error::Result;

/// A published table and where its figures stand in the results.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedEntry {
    /// `data/published/<table>.csv`.
    pub table: String,
    /// The result table.
    pub result: String,
    /// Columns that name a row: published column = result column.
    pub row: BTreeMap<String, String>,
    /// Values that the result's rows must have.
    #[serde(default, rename = "where")]
    pub fixed: BTreeMap<String, String>,
    /// Figures: published column = where it stands in the results.
    pub cells: BTreeMap<String, CellEntry>,
    /// Names that differ: published name = ours.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    /// The result's column that counts what a figure is of.
    #[serde(default)]
    pub n: Option<String>,
}

/// Where a published figure stands in the results.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum CellEntry {
    /// A column.
    Column(String),
    /// A column of the rows that have these values too, times a factor.
    At(CellAt),
}

/// A column of some rows.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellAt {
    /// The column.
    pub column: String,
    /// What its values are multiplied with.
    #[serde(default)]
    pub scale: Option<f64>,
    /// Values that the rows must have.
    #[serde(default)]
    pub at: BTreeMap<String, String>,
    /// The column that counts what it is of; that of the table if absent.
    #[serde(default)]
    pub n: Option<String>,
}

impl CellEntry {
    /// The column.
    pub fn column(&self) -> &str {
        match self {
            Self::Column(column) => column,
            Self::At(at) => &at.column,
        }
    }

    /// The column that counts what it is of, if it has one of its own.
    pub fn n(&self) -> Option<&str> {
        match self {
            Self::Column(_) => None,
            Self::At(at) => at.n.as_deref(),
        }
    }

    /// What values are multiplied with.
    pub fn scale(&self) -> f64 {
        match self {
            Self::Column(_) => 1.0,
            Self::At(at) => at.scale.unwrap_or(1.0),
        }
    }

    /// Values that the rows must have.
    pub fn at(&self) -> impl Iterator<Item = (&String, &String)> {
        let at = match self {
            Self::Column(_) => None,
            Self::At(at) => Some(&at.at),
        };
        at.into_iter().flatten()
    }
}

/// The same pipeline by another rule: another protocol, other parameters.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VariantEntry {
    /// What it is called.
    pub name: String,
    /// The protocol; that of the run if absent.
    #[serde(default)]
    pub protocol: Option<String>,
    /// Parameters; those of the protocol for all others.
    #[serde(default)]
    pub set: BTreeMap<String, Parameter>,
}

/// What the table `sensitivity` calls the run's own rule.
pub const AS_SCORED: &str = "as scored";

/// The numbers by other rules.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SensitivityEntry {
    /// The result table.
    pub table: String,
    /// Its column that orders it.
    pub column: String,
    /// Its columns that are the scope: what is ranked by itself.
    #[serde(default)]
    pub scope: Vec<String>,
    /// Its column that is ranked.
    pub model: String,
    /// Its column that counts.
    pub n: String,
    /// The step with other aggregations of the same cells: rule, scope, model, model_revision, judge, score, n.
    pub scores: String,
}

impl Pipeline {
    /// The plans of the variants that differ from a plan, by name, without intervals.
    pub fn variants(&self, assets: &Assets, plan: (&str, &BTreeMap<String, Parameter>)) -> Result<Vec<(String, Plan)>> {
        let (protocol, parameters) = plan;
        let mut plans = Vec::new();
        for variant in &self.variants {
            let choices = Choices {
                protocol: Some(variant.protocol.clone().unwrap_or_else(|| protocol.to_owned())),
                parameters: variant.set.clone(),
                intervals: Some("none".into()),
                gates: Vec::new(),
            };
            let planned = Plan::new(assets, self, &choices)?;
            if (planned.protocol.as_str(), &planned.parameters) != (protocol, parameters) {
                plans.push((variant.name.clone(), planned));
            }
        }
        Ok(plans)
    }
}
