//! `scorelake check`: pipelines, SQL and schemas, without data.

use std::collections::BTreeSet;

use super::text_rows;
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, ErrorKind, Result};
use crate::explore::questions;
use crate::pipeline::{Choices, Parameter, ParameterEntry, Pipeline, Plan};
use crate::schema::TableSchema;
use crate::schema::dataset::Dataset;
use crate::schema::taxonomy::Rubric;
use crate::score;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Pipeline files ending in .toml, or dataset ids; all built-in ones if absent.
    pipelines: Vec<String>,
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let assets = &session.assets;
    let datasets = Dataset::all(assets)?;
    let pipelines = if args.pipelines.is_empty() {
        datasets.iter().map(|dataset| dataset.id.clone()).collect()
    } else {
        args.pipelines.clone()
    };
    let mut rows = Vec::new();
    let mut row =
        |what: &str, name: &str, found: String| rows.push([what, name, &found].map(|text| Some(text.to_owned())));
    for dataset in &datasets {
        let schemas = TableSchema::load_all(assets, &dataset.id)?;
        row("schemas", &dataset.id, format!("{} tables", schemas.len()));
        let rubric = Rubric::load(assets, &dataset.id)?;
        row("taxonomy", &dataset.id, format!("{} pillars, {} facets", rubric.pillars.len(), rubric.facets.len()));
    }
    for name in &pipelines {
        let pipeline = Pipeline::load(assets, name)?;
        for choices in variants(&pipeline) {
            let plan = Plan::new(assets, &pipeline, &choices)?;
            score::dry_run(assets, &plan, session.engine())?;
            let parameters: Vec<_> = choices.parameters.values().map(|value| format!("{value:?}")).collect();
            row(
                "pipeline",
                &pipeline.name,
                format!(
                    "{} {}: {} steps, {} checks",
                    plan.protocol,
                    parameters.join(" "),
                    plan.steps.len(),
                    plan.checks.len()
                ),
            );
        }
    }
    row("questions", "sql/explore", format!("{} files", questions(assets)?.len()));
    if rows.is_empty() {
        return Err(Error::new(ErrorKind::Check, "nothing was checked"));
    }
    text_rows::print(session, ["checked", "name", "found"], &rows)?;
    Ok(Outcome::Complete)
}

/// Every protocol with every value that a step's `when` names.
fn variants(pipeline: &Pipeline) -> Vec<Choices> {
    let mut all: Vec<Choices> = pipeline
        .protocols
        .iter()
        .map(|protocol| Choices { protocol: Some(protocol.clone()), ..Choices::default() })
        .collect();
    for name in pipeline.parameters.keys() {
        let is_text = matches!(pipeline.parameters.get(name), Some(ParameterEntry::One(Parameter::Text(_))));
        let values: BTreeSet<_> = pipeline.steps.iter().filter_map(|step| step.when.get(name)).collect();
        if !is_text || values.is_empty() {
            continue;
        }
        all = all
            .into_iter()
            .flat_map(|choices| {
                values.iter().map(move |value| {
                    let mut choices = choices.clone();
                    choices.parameters.insert(name.clone(), Parameter::Text((*value).clone()));
                    choices
                })
            })
            .collect();
    }
    all
}
