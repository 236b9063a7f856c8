//! `scorelake agree`

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::samples::SnapshotSamples;
use super::text_rows::{self, Cell};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::PlannedIntervals;
use crate::published::{Names, Printed, PublishedTable, heading};
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
    /// The column of a CSV file: ranks if its name has the word rank, else scores; the first of overall, score, mos and a rank if absent.
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
    units: BTreeMap<String, Vec<String>>,
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    if args.column.is_some() && left_and_right(session, args).iter().all(|is_snapshot| *is_snapshot) {
        return Err(Error::new(ErrorKind::Usage, "--column goes with a CSV file"));
    }
    if args.item.is_some() && left_and_right(session, args).iter().all(|is_snapshot| !is_snapshot) {
        return Err(Error::new(ErrorKind::Usage, "--item goes with a snapshot"));
    }
    let mut plan = PlannedIntervals { samples: Vec::new(), confidence: 0.95, replicates: 10_000, seed: 20_250_918 };
    let left = side(session, args, &args.left, &mut plan, &BTreeMap::new())?;
    // The same prompts are drawn together; others on their own.
    let right = side(session, args, &args.right, &mut plan, &left.units)?;
    let dataset = left.dataset.as_deref().or(right.dataset.as_deref()).unwrap_or("");
    let names = Names::load(&session.assets, dataset, &BTreeMap::new(), args.names.as_deref())?;
    let mut rows: Vec<[Cell; 10]> = Vec::new();
    let mut matched = BTreeSet::new();
    for (left_scope, left_models) in &left.scopes {
        for (right_scope, right_models) in &right.scopes {
            let is_same = |a: &str, b: &str| a == b || names.means(a, b) || names.means(b, a);
            let mut taken = BTreeSet::new();
            let mut both = Vec::new();
            for (model, own) in left_models {
                // A model itself before one of a like name, and each at most once.
                let exact = right_models.get_key_value(model);
                let like = || right_models.iter().find(|(other, _)| is_same(model, other) && !taken.contains(*other));
                if let Some(other) = exact.or_else(like) {
                    taken.insert(other.0);
                    both.push((model, own, other));
                }
            }
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
    let names = ["left", "right", "statistic", "estimate", "low", "high", "drawn", "n", "replicates", "reason"];
    text_rows::print(session, names, &rows)?;
    Ok(Outcome::Complete)
}

/// Which of the two are snapshots.
fn left_and_right(session: &Session, args: &Args) -> [bool; 2] {
    [&args.left, &args.right].map(|name| {
        let id = name.split('@').next().unwrap_or(name);
        Dataset::find(&session.assets, id).is_ok()
    })
}

fn side(
    session: &Session,
    args: &Args,
    name: &str,
    plan: &mut PlannedIntervals,
    other_units: &BTreeMap<String, Vec<String>>,
) -> Result<Side> {
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
    plan: &mut PlannedIntervals,
    other_units: &BTreeMap<String, Vec<String>>,
) -> Result<Side> {
    let samples = SnapshotSamples::open(session, target)?;
    let (place, item) = samples.item(args.item.as_deref())?;
    if other_units.is_empty() {
        // The first snapshot says how; both sides are drawn alike.
        plan.clone_from(&samples.intervals);
    }
    let dataset = target.split('@').next().map(str::to_owned);
    let mut side = Side { dataset, scopes: BTreeMap::new(), units: BTreeMap::new() };
    for set in &samples.observations {
        let columns: Vec<_> =
            set.columns.iter().filter(|column| column.sample == place && column.item == item).collect();
        let is_shared = other_units.is_empty() || other_units.values().any(|units| *units == set.units);
        let resampling = Resampling {
            replicates: plan.replicates,
            seed: if is_shared { plan.seed } else { plan.seed.wrapping_add(1) },
        };
        let values: Vec<&[f64]> = columns.iter().map(|column| column.values.as_slice()).collect();
        let means = resampling.means(set.units.len(), &values);
        for (column, means) in columns.into_iter().zip(means) {
            let entry = &column.entry;
            // Boards of different judges are different boards.
            let scope =
                if entry.judge.is_empty() { entry.scope.clone() } else { format!("{} #{}", entry.scope, entry.judge) };
            let label = stats::Entry { judge: String::new(), ..entry.clone() }.label();
            let Some(score) = stats::exact_mean(column.present()) else { continue };
            side.units.entry(scope.clone()).or_insert_with(|| set.units.clone());
            side.scopes.entry(scope).or_default().insert(label, (score, Some(means)));
        }
    }
    Ok(side)
}

fn of_table(session: &Session, args: &Args, name: &str) -> Result<Side> {
    const NAMES: [&str; 5] = ["model", "display_name", "name", "generator", "assessor"];
    const SCORES: [&str; 3] = ["overall", "score", "mos"];
    let table = PublishedTable::load(&session.assets, name)?;
    let has = |column: &&str| table.columns.iter().any(|own| own == column);
    let is_rank = |column: &str| column.split('_').any(|word| word == "rank");
    let none = |what: &str, wanted: &str| {
        Error::new(ErrorKind::Input, format!("no column of {what}"))
            .with("file", name)
            .with("found", table.columns.join(", "))
            .hint(wanted.to_owned())
    };
    let model = NAMES.iter().find(|name| has(name)).ok_or_else(|| none("models", &NAMES.join(", or ")))?;
    let asked = args.column.as_deref().map(heading);
    let ranks = || table.columns.iter().map(String::as_str).find(|column| is_rank(column));
    let column = match asked.as_deref() {
        Some(column) if has(&column) => column,
        Some(column) => return Err(none(column, "--column names one of them")),
        None => SCORES
            .iter()
            .copied()
            .find(has)
            .or_else(ranks)
            .ok_or_else(|| none("scores or ranks", "--column names one of them"))?,
    };
    session.printer.note(&format!(
        "{name}: {column} is taken as {}",
        if is_rank(column) { "ranks, 1 the best" } else { "scores, higher the better" }
    ));
    let mut models = BTreeMap::new();
    for (line, row) in (2..).zip(&table.rows) {
        let (Some(model), Some(text)) = (table.cell(row, model), table.cell(row, column)) else { continue };
        let Some(printed) = Printed::parse(text) else {
            session.printer.warn(&format!("{name}:{line}: `{text}` is no number; {model} is left out"));
            continue;
        };
        // The first rank is the best one.
        let score = if is_rank(column) { -printed.value } else { printed.value };
        if models.insert(model.trim().to_owned(), (score, None)).is_some() {
            return Err(Error::new(ErrorKind::Input, format!("the model `{model}` stands twice"))
                .with("file", name)
                .with("line", line));
        }
    }
    Ok(Side { dataset: None, scopes: BTreeMap::from([(String::new(), models)]), units: BTreeMap::new() })
}
