//! `scorelake agree`

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::samples::SnapshotSamples;
use super::text_rows::{self, Cell};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::PlannedIntervals;
use crate::published::{Names, Printed, PublishedTable};
use crate::schema::dataset::Dataset;
use crate::stats::{self, Board, Resampling};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// A snapshot's board (dataset id, with @ID for a snapshot), a CSV file, or the name of a published table.
    #[arg(value_name = "BOARD")]
    left: String,
    /// Another one, such as ranks that people gave.
    #[arg(value_name = "BOARD")]
    right: String,
    /// Columns of a CSV file that hold scores, or ranks where they are called rank; the first of overall, score, mos and rank if absent.
    #[arg(long, value_name = "COLUMN")]
    column: Option<String>,
    /// The item of a snapshot, such as a pillar; the board's own score if absent.
    #[arg(long, value_name = "NAME")]
    item: Option<String>,
    /// A CSV file with the columns published and ours: names that differ.
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
}

/// A score, and its replicates over prompts where there are prompts.
type Scored = (f64, Option<Vec<f64>>);

/// One side: scores by model, by scope, and the replicates of each where there are prompts.
struct Side {
    dataset: Option<String>,
    scopes: BTreeMap<String, BTreeMap<String, Scored>>,
    units: Vec<String>,
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let plan = PlannedIntervals { samples: Vec::new(), confidence: 0.95, replicates: 10_000, seed: 20_250_918 };
    let left = side(session, args, &args.left, &plan, &[])?;
    // The same prompts are drawn together; others on their own.
    let right = side(session, args, &args.right, &plan, &left.units)?;
    let dataset = left.dataset.as_deref().or(right.dataset.as_deref()).unwrap_or("");
    let names = Names::load(&session.assets, dataset, &BTreeMap::new(), args.names.as_deref())?;
    let mut rows: Vec<[Cell; 11]> = Vec::new();
    let mut matched = BTreeSet::new();
    for (left_scope, left_models) in &left.scopes {
        for (right_scope, right_models) in &right.scopes {
            let is_same = |a: &str, b: &str| a == b || names.means(a, b) || names.means(b, a);
            let of = |model: &String| right_models.iter().find(|(other, _)| is_same(model, other));
            let both: Vec<_> = left_models.iter().filter_map(|(model, own)| Some((model, own, of(model)?))).collect();
            matched.extend(both.iter().flat_map(|(model, _, (other, _))| [*model, *other]));
            let board = |pick: &dyn Fn(usize) -> Scored| {
                let all: Vec<Scored> = (0..both.len()).map(pick).collect();
                let replicates = all.iter().map(|(_, replicates)| replicates.clone()).collect::<Option<Vec<_>>>();
                Board {
                    scores: all.iter().map(|(score, _)| *score).collect(),
                    replicates: replicates.filter(|all| !all.is_empty()),
                }
            };
            let (a, b) = (board(&|at| both[at].1.clone()), board(&|at| both[at].2.1.clone()));
            for one in stats::rankings(&a, &b, &plan) {
                rows.push([
                    left_scope.as_str().into(),
                    right_scope.as_str().into(),
                    one.statistic.into(),
                    one.estimate.into(),
                    one.bounds.map(|bounds| bounds.low).into(),
                    one.bounds.map(|bounds| bounds.high).into(),
                    one.drawn.name().into(),
                    (one.n as u64).into(),
                    (one.replicates as u64).into(),
                    plan.seed.into(),
                    one.reason.into(),
                ]);
            }
        }
    }
    for (name, side) in [(&args.left, &left), (&args.right, &right)] {
        let models: BTreeSet<&String> = side.scopes.values().flat_map(BTreeMap::keys).collect();
        let alone: Vec<&str> = models.difference(&matched).map(|model| model.as_str()).collect();
        if !alone.is_empty() {
            session.printer.note(&format!("only in {name}: {}", alone.join(", ")));
        }
    }
    if matched.is_empty() {
        return Err(
            Error::new(ErrorKind::Usage, "the boards share no model").hint("--names FILE maps names that differ")
        );
    }
    let names = ["left", "right", "statistic", "estimate", "low", "high", "drawn", "n", "replicates", "seed", "reason"];
    text_rows::print(session, names, &rows)?;
    Ok(Outcome::Complete)
}

fn side(session: &Session, args: &Args, name: &str, plan: &PlannedIntervals, other_units: &[String]) -> Result<Side> {
    let id = name.split('@').next().unwrap_or(name);
    match Dataset::find(&session.assets, id) {
        Ok(_) => of_snapshot(session, args, name, plan, other_units),
        Err(_) => of_table(session, args, name),
    }
}

fn of_snapshot(
    session: &Session,
    args: &Args,
    target: &str,
    plan: &PlannedIntervals,
    other_units: &[String],
) -> Result<Side> {
    let samples = SnapshotSamples::open(session, target)?;
    let (place, item) = samples.item(args.item.as_deref())?;
    let mut side =
        Side { dataset: target.split('@').next().map(str::to_owned), scopes: BTreeMap::new(), units: Vec::new() };
    for set in &samples.observations {
        let columns: Vec<_> =
            set.columns.iter().filter(|column| column.sample == place && column.item == item).collect();
        let seed = if other_units.is_empty() || other_units == set.units { plan.seed } else { plan.seed + 1 };
        let resampling = Resampling { replicates: plan.replicates, seed };
        let values: Vec<&[f64]> = columns.iter().map(|column| column.values.as_slice()).collect();
        let means = resampling.means(set.units.len(), &values);
        for (column, means) in columns.into_iter().zip(means) {
            let mut sum = crate::exact::ExactSum::default();
            column.present().for_each(|value| sum.add(value));
            let entry = &column.entry;
            let label = stats::Entry { scope: String::new(), ..entry.clone() }.label();
            let score = sum.mean().unwrap_or(f64::NAN);
            side.scopes.entry(entry.scope.clone()).or_default().insert(label, (score, Some(means)));
        }
        side.units.clone_from(&set.units);
    }
    Ok(side)
}

fn of_table(session: &Session, args: &Args, name: &str) -> Result<Side> {
    const NAMES: [&str; 5] = ["model", "display_name", "name", "generator", "assessor"];
    const SCORES: [&str; 4] = ["overall", "score", "mos", "rank"];
    let table = PublishedTable::load(&session.assets, name)?;
    let has = |column: &&str| table.columns.iter().any(|own| own == column);
    let none = |what: &str, wanted: &str| {
        Error::new(ErrorKind::Input, format!("no column of {what}"))
            .with("file", name)
            .with("found", table.columns.join(", "))
            .hint(wanted.to_owned())
    };
    let model = NAMES.iter().find(|name| has(name)).ok_or_else(|| none("models", &NAMES.join(", or ")))?;
    let column = match args.column.as_deref() {
        Some(column) if has(&column) => column,
        Some(column) => return Err(none(column, "--column names one of them")),
        None => SCORES.iter().copied().find(has).ok_or_else(|| none("scores", "--column names one of them"))?,
    };
    let mut models = BTreeMap::new();
    for (line, row) in (2..).zip(&table.rows) {
        let (Some(model), Some(text)) = (table.cell(row, model), table.cell(row, column)) else { continue };
        let Some(printed) = Printed::parse(text) else {
            session.printer.warn(&format!("{name}:{line}: `{text}` is no number; {model} is left out"));
            continue;
        };
        // The first rank is the best one.
        let score = if column == "rank" { -printed.value } else { printed.value };
        if models.insert(model.trim().to_owned(), (score, None)).is_some() {
            return Err(Error::new(ErrorKind::Input, format!("the model `{model}` stands twice"))
                .with("file", name)
                .with("line", line));
        }
    }
    Ok(Side { dataset: None, scopes: BTreeMap::from([(String::new(), models)]), units: Vec::new() })
}
