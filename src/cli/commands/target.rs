//! `<dataset>[@ID]`.

use crate::cli::Session;
use crate::error::Result;
use crate::pipeline::Pipeline;
use crate::schema::dataset::Dataset;
use crate::snapshot::{self, Snapshot};

/// Splits a target into the dataset and what stands behind the `@`.
pub(super) fn split<'a>(session: &Session, target: &'a str) -> Result<(Dataset, Option<&'a str>)> {
    let (dataset, reference) = match target.split_once('@') {
        Some((dataset, reference)) => (dataset, Some(reference)),
        None => (target, None),
    };
    Ok((Dataset::find(&session.assets, dataset)?, reference))
}

/// The snapshot that a target names.
pub(super) fn find(session: &Session, target: &str) -> Result<(Dataset, Snapshot)> {
    let (dataset, reference) = split(session, target)?;
    let pipelines = Pipeline::of_dataset(&session.assets, &dataset.id)?;
    let protocols: Vec<String> = pipelines.into_iter().flat_map(|pipeline| pipeline.protocols).collect();
    let snapshot = snapshot::find(&session.lake()?, &dataset.id, &protocols, reference)?;
    Ok((dataset, snapshot))
}
