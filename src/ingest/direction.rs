//! Whether higher or lower values of a metric are better: as the command line says, else as `data/metrics.csv` knows.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::SourceOptions;
use crate::assets::Assets;
use crate::error::Result;
use crate::schema::dataset::read_csv;

#[derive(Deserialize)]
struct Metric {
    metric: String,
    better: String,
}

/// The metrics of which lower values are known to be better, by lower-case name.
#[derive(Debug, Clone)]
pub(super) struct Directions {
    known: BTreeMap<String, bool>,
}

impl Directions {
    pub(super) fn load(assets: &Assets) -> Result<Self> {
        let metrics: Vec<Metric> = read_csv(assets, "data/metrics.csv")?;
        let known = metrics.into_iter().map(|row| (row.metric.to_lowercase(), row.better == "lower")).collect();
        Ok(Self { known })
    }

    /// What the file says, for a reader's identity.
    pub(super) fn identity(&self) -> String {
        let lower = self.known.iter().filter(|(_, is_lower)| **is_lower);
        lower.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(",")
    }

    /// Whether lower values of a metric are better; higher if nothing says so.
    pub(super) fn is_lower_better(&self, options: &SourceOptions, metric: &str) -> bool {
        let said =
            options.direction.split(',').filter(|part| !part.is_empty()).find_map(|part| match part.rsplit_once('=') {
                Some((name, direction)) => (name == metric).then_some(direction == "lower"),
                None => Some(part == "lower"),
            });
        said.or_else(|| self.known.get(&metric.to_lowercase()).copied()).unwrap_or(false)
    }
}
