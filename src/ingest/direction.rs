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

    /// The metrics that `--direction` names.
    pub(super) fn named(options: &SourceOptions) -> impl Iterator<Item = &str> {
        options.direction.split(',').filter_map(|part| part.rsplit_once('=')).map(|(name, _)| name)
    }

    /// What the file says, for a reader's identity.
    pub(super) fn identity(&self) -> String {
        let lower = self.known.iter().filter(|(_, is_lower)| **is_lower);
        lower.map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(",")
    }

    /// Whether lower values of a metric are better; higher if nothing says so.
    pub(super) fn is_lower_better(&self, options: &SourceOptions, metric: &str) -> bool {
        let parts = || options.direction.split(',').filter(|part| !part.is_empty());
        let by_name =
            parts().filter_map(|part| part.rsplit_once('=')).find(|(name, _)| name.eq_ignore_ascii_case(metric));
        let general = parts().find(|part| !part.contains('='));
        let said = by_name.map(|(_, direction)| direction).or(general).map(|direction| direction == "lower");
        said.or_else(|| self.known.get(&metric.to_lowercase()).copied()).unwrap_or(false)
    }
}
