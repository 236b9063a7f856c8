//! `scorelake score`

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Instant;

use clap::ValueEnum;

use super::{Split, gates, parse_fraction, recorded, second_opinion, to_json};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::cli::progress::Bar;
use crate::error::{Error, ErrorKind, Result};
use crate::lake::manifest::Manifest;
use crate::lake::runs::RunRecord;
use crate::lake::{Lake, Staging};
use crate::pipeline::{Choices, Level, Parameter, Pipeline, Plan};
use crate::score;
use crate::snapshot::{self, Published};
use crate::stats;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Dataset id, name of another built-in pipeline (mos_from_ratings), or a pipeline file ending in .toml.
    pipeline: String,
    #[command(flatten)]
    options: ScoreOptions,
    /// magicdata340k: only images of this split.
    #[arg(long, value_enum)]
    split: Option<Split>,
    /// Engine; polars computes the headline tables a second time, on all cores, prints one and publishes nothing.
    #[arg(long, value_enum, default_value_t = EngineArg::Datafusion)]
    engine: EngineArg,
    /// With --engine polars: the table to print.
    #[arg(long, value_name = "TABLE")]
    table: Option<String>,
    /// Show what would run, without running it.
    #[arg(long, conflicts_with_all = ["engine", "table"])]
    dry_run: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EngineArg {
    Datafusion,
    Polars,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ScoreOptions {
    /// Protocol; the pipeline's first one if absent.
    #[arg(long, value_name = "P")]
    protocol: Option<String>,
    /// qwen-image-bench: cells that count: every judged one, or those that the prompt's metadata lists.
    #[arg(long, value_enum)]
    facets: Option<Facets>,
    /// qwen-image-bench, magicbench: coverage below which a model has no rank, 0 to 1.
    #[arg(long, value_name = "X", value_parser = parse_fraction)]
    min_coverage: Option<f64>,
    /// magicdata340k: how an assessor's text is read.
    #[arg(long, value_enum)]
    reading: Option<Reading>,
    /// fager: pairs left out of ab_accuracy: indices of prompts separated by commas, or `listed` for those of an exclude_index.csv in the
    /// lake.
    #[arg(long, value_name = "INDICES", value_parser = parse_indices)]
    exclude: Option<String>,
    /// Intervals beside scores: none, default, all, or names of samples separated by commas (a wrong name lists them). `none` leaves
    /// out everything but the scores.
    #[arg(long, env = "SCORELAKE_INTERVALS", value_name = "SPEC")]
    intervals: Option<String>,
    /// Holds the run to a bound of a gate (a wrong name lists them), such as min_coverage=0.95 or no_regression=ID; a broken one makes the
    /// exit code 3.
    #[arg(long = "gate", value_name = "NAME=VALUE", value_parser = parse_gate)]
    gates: Vec<(String, String)>,
    /// Another value for a parameter of the pipeline.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_parameter)]
    set: Vec<(String, Parameter)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Facets {
    Judged,
    Metadata,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Reading {
    Exact,
    Keywords,
}

/// `listed`, or integers separated by commas.
fn parse_indices(text: &str) -> Result<String, String> {
    if text == "listed" {
        return Ok(text.to_owned());
    }
    let index = |part: &str| {
        part.trim()
            .parse::<i64>()
            .map_err(|_e| format!("`{part}` is no index: integers separated by commas, or `listed`"))
    };
    let indices = text.split(',').map(index).collect::<Result<Vec<_>, _>>()?;
    Ok(indices.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
}

/// `name=value`: an integer, a double, or a text.
pub(super) fn parse_parameter(text: &str) -> Result<(String, Parameter), String> {
    let (name, value) = text.split_once('=').ok_or("NAME=VALUE")?;
    let parsed = match (value.parse::<i64>(), value.parse::<f64>()) {
        (Ok(value), _) => Parameter::Int(value),
        (_, Ok(value)) if value.is_finite() => Parameter::Float(value),
        _ => Parameter::Text(value.to_owned()),
    };
    Ok((name.to_owned(), parsed))
}

/// `name=value`; an id is no number, whatever its digits.
fn parse_gate(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

impl ScoreOptions {
    /// The plan that these options choose.
    pub(super) fn plan(
        &self,
        session: &Session,
        pipeline: &str,
        further: impl IntoIterator<Item = (&'static str, Parameter)>,
    ) -> Result<Plan> {
        let pipeline = Pipeline::load(&session.assets, pipeline)?;
        let mut parameters: BTreeMap<String, Parameter> = self.set.iter().cloned().collect();
        parameters.extend(further.into_iter().map(|(name, value)| (name.to_owned(), value)));
        if let Some(facets) = self.facets {
            let name = match facets {
                Facets::Judged => "judged",
                Facets::Metadata => "metadata",
            };
            parameters.insert("facets".into(), Parameter::Text(name.into()));
        }
        if let Some(min_coverage) = self.min_coverage {
            parameters.insert("min_coverage".into(), Parameter::Float(min_coverage));
        }
        if let Some(reading) = self.reading {
            let name = match reading {
                Reading::Exact => "exact",
                Reading::Keywords => "keywords",
            };
            parameters.insert("reading".into(), Parameter::Text(name.into()));
        }
        if let Some(exclude) = &self.exclude {
            parameters.insert("exclude".into(), Parameter::Text(exclude.clone()));
        }
        Plan::new(
            &session.assets,
            &pipeline,
            &Choices {
                protocol: self.protocol.clone(),
                parameters,
                intervals: self.intervals.clone(),
                gates: self.gates.clone(),
            },
        )
    }
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let split = args.split.map(|split| ("split", Parameter::Text(split.name().into())));
    let plan = args.options.plan(session, &args.pipeline, split)?;
    if args.dry_run {
        return dry_run(session, &plan);
    }
    let lake = session.lake()?;
    match (args.engine, &args.table) {
        (EngineArg::Polars, table) => return second_opinion::print(session, &lake, &plan, table.as_deref()),
        (EngineArg::Datafusion, None) => {}
        (EngineArg::Datafusion, Some(table)) => {
            return Err(Error::new(ErrorKind::Usage, "--table goes with --engine polars")
                .hint(format!("score, then `scorelake show {} {table}`", plan.dataset.id)));
        }
    }
    recorded(session, &lake, |record| {
        let _reading = lake.reading(&plan.dataset.id)?;
        let manifest = Manifest::load(&lake, &plan.dataset.id)?;
        let (published, outcome) = score(session, &lake, &manifest, &plan, true, record)?;
        tell_next(session, &plan, &published);
        Ok(outcome)
    })
}

fn dry_run(session: &Session, plan: &Plan) -> Result<Outcome> {
    score::dry_run(&session.assets, plan, session.engine())?;
    let rows: Vec<_> = plan
        .steps
        .iter()
        .map(|step| {
            let output = format!("{:?}", step.sql.output).to_lowercase();
            [&step.name, &step.sql.path, &output, &step.sql.question].map(|text| text.as_str().into())
        })
        .collect();
    let parameters: Vec<_> = plan.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    session.printer.note(&format!("protocol {}, {}", plan.protocol, parameters.join(", ")));
    super::text_rows::print(session, ["step", "sql", "output", "question"], &rows)?;
    Ok(Outcome::Complete)
}

/// Scores a manifest's sources and publishes the snapshot.
pub(super) fn score(
    session: &Session,
    lake: &Lake,
    manifest: &Manifest,
    plan: &Plan,
    whole_lake: bool,
    record: &RunRecord,
) -> Result<(Published, Outcome)> {
    let references = gates::references(session, plan, lake)?;
    let staging = Staging::private(lake, "snapshot")?;
    let beside = usize::from(plan.intervals.is_some()) + usize::from(plan.sensitivity.is_some());
    let bar = Bar::steps(session, plan.steps.len() + 1 + beside)?;
    let seconds = RefCell::new((Instant::now(), Vec::new()));
    let step_done = |step: &str| {
        bar.step(step);
        let (since, all) = &mut *seconds.borrow_mut();
        all.push(format!("{step} {:.3}", since.elapsed().as_secs_f64()));
        *since = Instant::now();
    };
    let sources = stats::Sources { lake, manifest, options: session.engine() };
    let scored = score::score(&session.assets, lake, manifest, plan, session.engine(), staging.path(), &step_done)
        .and_then(|mut scored| {
            stats::add_tables(&session.assets, sources, plan, &mut scored, staging.path(), &step_done)?;
            Ok(scored)
        });
    drop(bar);
    session.printer.detail(&format!("seconds: {}", seconds.into_inner().1.join(", ")));
    let scored = scored?;
    let has_rows = |name: &String| scored.tables.iter().any(|table| table.schema.table == *name && table.rows > 0);
    if !plan.show.iter().any(has_rows) {
        return Err(nothing_to_score(lake, plan));
    }
    let mut held = gates::values(plan, &scored)?;
    let may_be_latest = whole_lake && gates::all_hold(&held);
    let mut published = snapshot::publish(lake, &staging, manifest, plan, &scored, may_be_latest)?;
    record.set("snapshot", to_json(&published.snapshot.manifest.id))?;
    for finding in scored.findings.iter().filter(|finding| finding.is_told) {
        match finding.level {
            Level::Note => session.printer.note(&finding.text),
            Level::Warning | Level::Partial => session.printer.warn(&finding.text),
        }
    }
    let rejected: u64 = manifest.sources.iter().map(|source| source.rejected).sum();
    if rejected > 0 {
        session.printer.warn(&format!("{rejected} rejected records of the lake are not in these numbers"));
    }
    for before in &references {
        held.push(gates::no_regression(session, &plan.dataset, before, &published.snapshot)?);
    }
    let holds = gates::all_hold(&held);
    gates::tell(session, &held);
    if whole_lake && holds {
        snapshot::make_latest(lake, manifest, plan, &mut published)?;
    } else if !holds && plan.is_default {
        session.printer.warn("a gate is broken: the snapshot does not become the latest of its protocol");
    }
    let is_whole = published.status != "partial" && holds;
    Ok((published, if is_whole { Outcome::Complete } else { Outcome::Partial }))
}

pub(super) fn nothing_to_score(lake: &Lake, plan: &Plan) -> Error {
    Error::new(
        ErrorKind::Lake,
        format!("the lake has nothing of {} to score: no rows for {}", plan.name, plan.show.join(", ")),
    )
    .with("lake", lake.root())
    .hint(format!(
        "scorelake ingest {} FILE; docs/{}.md says which files it scores (of {})",
        plan.dataset.id, plan.dataset.id, plan.dataset.files
    ))
}

/// Where the snapshot is and what to do with it.
pub(super) fn tell_next(session: &Session, plan: &Plan, published: &Published) {
    let printer = session.printer;
    let manifest = &published.snapshot.manifest;
    let was_there = if published.was_there { ", the same as one that was there" } else { "" };
    printer.note(&format!("snapshot {} ({}, {}){was_there}", manifest.id, manifest.protocol, published.status));
    printer.detail(&format!("folder {}", published.snapshot.dir));
    if published.is_outdated {
        printer.warn("the lake changed while it was scored: not the latest of its protocol; score again");
    } else if !published.is_latest {
        printer.note(
            "not the latest of its protocol: parameters, queries or inputs are not the default; name it by its id",
        );
    }
    let is_default = plan.protocol == plan.default_protocol && plan.name == plan.dataset.id;
    let reference = match (published.is_latest, is_default) {
        (true, true) => plan.dataset.id.clone(),
        (true, false) => format!("{}@{}", plan.dataset.id, plan.protocol),
        (false, _) => format!("{}@{}", plan.dataset.id, &manifest.id[..8]),
    };
    let lake = session.lake_option();
    let shown = published.snapshot.shown(&plan.show);
    let next = plan.show.iter().skip_while(|name| Some(*name) != shown).nth(1).map_or("ledger", String::as_str);
    let has_several = manifest.tables.iter().any(|table| table.name == "standings" && table.rows > 1);
    let compare = if has_several { format!("scorelake{lake} compare {reference} --all | ") } else { String::new() };
    printer.note(&format!(
        "next: scorelake{lake} show {reference} {next} | {compare}scorelake{lake} export {reference} --xlsx tables.xlsx"
    ));
}
