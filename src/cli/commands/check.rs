//! `scorelake check`: pipelines, SQL and schemas; and both engines on the lake's data, if there is a lake.

use std::collections::BTreeSet;

use super::second_opinion;
use super::text_rows::{self, Cell};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::Result;
use crate::explore::{self, questions};
use crate::lake::manifest::Manifest;
use crate::pipeline::{Choices, Parameter, ParameterEntry, Pipeline, Plan};
use crate::published;
use crate::schema::TableSchema;
use crate::schema::dataset::Dataset;
use crate::score;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Pipeline files ending in .toml, or dataset ids; all built-in ones if absent.
    pipelines: Vec<String>,
    /// Do not score the lake by both engines.
    #[arg(long)]
    without_data: bool,
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let assets = &session.assets;
    let lake = if args.without_data { None } else { session.lake_if_there()? };
    let datasets = Dataset::all(assets)?;
    let pipelines = if args.pipelines.is_empty() {
        let mut names = Vec::new();
        for dataset in &datasets {
            names.extend(Pipeline::of_dataset(assets, &dataset.id)?.into_iter().map(|pipeline| pipeline.name));
        }
        names
    } else {
        args.pipelines.clone()
    };
    let mut rows: Vec<[Cell; 3]> = Vec::new();
    let mut row = |what: &str, name: &str, found: String| rows.push([what.into(), name.into(), found.into()]);
    for dataset in &datasets {
        let schemas = TableSchema::load_all(assets, &dataset.id)?;
        row("schemas", &dataset.id, format!("{} tables", schemas.len()));
    }
    let mut plans = Vec::new();
    for name in &pipelines {
        let pipeline = Pipeline::load(assets, name)?;
        for choices in variants(&pipeline) {
            let plan = Plan::new(assets, &pipeline, &choices)?;
            score::dry_run(assets, &plan, session.engine())?;
            let parameters: Vec<_> = choices.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let chosen = [plan.protocol.as_str(), &parameters.join(" ")].join(" ");
            row(
                "pipeline",
                &pipeline.name,
                format!(
                    "{}: {} steps, {} checks, {} findings",
                    chosen.trim(),
                    plan.steps.len(),
                    plan.checks.len(),
                    plan.findings.len()
                ),
            );
            plans.push((pipeline.name.clone(), chosen.trim().to_owned(), plan));
        }
        published::require_entries(assets, &pipeline)?;
    }
    let questions = questions(assets)?;
    for question in &questions {
        explore::dry_run(assets, question, session.engine())?;
    }
    row("questions", "sql/explore", format!("{} queries", questions.len()));
    for (name, chosen, plan) in &plans {
        let Some(lake) = &lake else { break };
        let _reading = lake.reading(&plan.dataset.id)?;
        let manifest = Manifest::load(lake, &plan.dataset.id)?;
        if manifest.sources.is_empty() {
            continue;
        }
        row("engines", name, format!("{chosen}: {}", second_opinion::agree(session, lake, &manifest, plan)?));
    }
    if lake.is_none() && !args.without_data {
        session.printer.note("no lake: DataFusion and Polars were not compared");
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
