//! `scorelake compare`

use super::samples::SnapshotSamples;
use super::text_rows::{self, Cell};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, ErrorKind, Result};
use crate::report::Format;
use crate::stats::{self, Change, Comparing, Comparison, Entry, Verdict};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Dataset id, with @ID for a snapshot (an id, a prefix of one, or a protocol).
    #[arg(value_name = "DATASET[@ID]")]
    target: String,
    /// The two to compare: models, assessors or runs; model@revision#judge where there are several of one. Differences are the first
    /// less the second.
    #[arg(value_name = "MODEL", num_args = 0..=2)]
    models: Vec<String>,
    /// Every pair, in the score that orders the board.
    #[arg(long, conflicts_with_all = ["models", "changes"])]
    all: bool,
    /// Only this language or collection.
    #[arg(long, value_name = "NAME")]
    scope: Option<String>,
    /// Differences up to it do not matter: tests whether both are equivalent within it (two one-sided tests).
    #[arg(long, value_name = "POINTS", value_parser = parse_margin, conflicts_with = "changes")]
    margin: Option<f64>,
    /// The N prompts with the largest changes, instead of the comparison.
    #[arg(long, value_name = "N")]
    changes: Option<usize>,
    /// With --changes or --all: the item, such as a pillar; the board's own score (or the first item) if absent.
    #[arg(long, value_name = "NAME")]
    item: Option<String>,
}

/// A number above 0.
fn parse_margin(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1e6 => Ok(value),
        Ok(_) => Err("a number above 0, at most a million".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Changes that are told beside a comparison.
const TOLD: usize = 5;

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let samples = SnapshotSamples::open(session, &args.target)?;
    let comparing = Comparing::new(&samples.intervals, args.margin);
    if args.all {
        return all_pairs(session, &samples, args, comparing);
    }
    let [a, b] = args.models.as_slice() else {
        return Err(Error::new(ErrorKind::Usage, "two models to compare, or --all")
            .hint(format!("there are {}", labels(&samples).join(", "))));
    };
    let pairs = pairs(&samples, a, b, args.scope.as_deref())?;
    if let Some(most) = args.changes {
        let (place, item) = samples.item(args.item.as_deref())?;
        let changes = largest(&samples, &pairs, place, &item, most);
        print_changes(session, &changes)?;
        return Ok(Outcome::Complete);
    }
    if args.item.is_some() {
        return Err(Error::new(ErrorKind::Usage, "--item goes with --changes or --all"));
    }
    let comparisons = stats::compare(&samples.planned(), &samples.observations, &pairs, comparing);
    if comparisons.iter().all(|one| one.n == 0) {
        session.printer.warn("they have no prompt in common");
    }
    session.printer.note(&format!(
        "a is {}, b is {}; differences are a - b, on the prompts that both have",
        pairs[0].0.label(),
        pairs[0].1.label()
    ));
    print(session, &comparisons, args.margin, args.all)?;
    let (place, item) = samples.item(None)?;
    let told = largest(&samples, &pairs, place, &item, TOLD);
    if !told.is_empty() {
        let one = |change: &Change| format!("{} ({:+.2})", shortened(&change.unit), change.a - change.b);
        session.printer.note(&format!(
            "largest changes: {}; --changes N lists them",
            told.iter().map(one).collect::<Vec<_>>().join(", ")
        ));
    }
    Ok(Outcome::Complete)
}

/// A unit's name, where it is a whole prompt the beginning of it.
fn shortened(unit: &str) -> String {
    const MOST: usize = 40;
    if unit.chars().count() <= MOST { unit.to_owned() } else { unit.chars().take(MOST).chain(['…']).collect() }
}

fn labels(samples: &SnapshotSamples) -> Vec<String> {
    let mut labels: Vec<String> = samples.entries().iter().map(Entry::label).collect();
    labels.sort();
    labels.dedup();
    labels
}

/// Both entries in each scope that has both.
fn pairs(samples: &SnapshotSamples, a: &str, b: &str, scope: Option<&str>) -> Result<Vec<(Entry, Entry)>> {
    let (a_entries, b_entries) = (samples.find(a)?, samples.find(b)?);
    let mut pairs = Vec::new();
    for one in a_entries {
        if let Some(other) = b_entries.iter().find(|other| other.scope == one.scope) {
            pairs.push((one, other.clone()));
        }
    }
    require_scope(samples, scope)?;
    pairs.retain(|(one, _)| scope.is_none_or(|scope| scope == one.scope));
    if pairs.iter().any(|(one, other)| one == other) {
        return Err(Error::new(ErrorKind::Usage, format!("`{a}` and `{b}` are one entry")).hint("name two"));
    }
    if pairs.is_empty() {
        return Err(Error::new(ErrorKind::Usage, format!("`{a}` and `{b}` share no language or collection")));
    }
    Ok(pairs)
}

fn require_scope(samples: &SnapshotSamples, scope: Option<&str>) -> Result<()> {
    let scopes: std::collections::BTreeSet<String> = samples.entries().into_iter().map(|entry| entry.scope).collect();
    match scope {
        Some(scope) if !scopes.contains(scope) => Err(Error::new(ErrorKind::Usage, format!("no scope `{scope}`"))
            .hint(format!("there are {}", scopes.into_iter().collect::<Vec<_>>().join(", ")))),
        _ => Ok(()),
    }
}

fn all_pairs(session: &Session, samples: &SnapshotSamples, args: &Args, comparing: Comparing) -> Result<Outcome> {
    let (place, item) = samples.item(args.item.as_deref())?;
    require_scope(samples, args.scope.as_deref())?;
    // Only what is compared: the item's columns of one sample, the best first.
    let mut observations = samples.observations.clone();
    let mean = |values: &[f64]| {
        stats::exact_mean(values.iter().copied().filter(|value| !value.is_nan())).unwrap_or(f64::NEG_INFINITY)
    };
    let mut pairs = Vec::new();
    for set in &mut observations {
        set.columns.retain(|column| {
            column.sample == place
                && column.item == item
                && args.scope.as_ref().is_none_or(|scope| *scope == column.entry.scope)
        });
        set.columns.sort_by(|a, b| {
            a.entry
                .scope
                .cmp(&b.entry.scope)
                .then(mean(&b.values).total_cmp(&mean(&a.values)))
                .then(a.entry.cmp(&b.entry))
        });
        for (at, one) in set.columns.iter().enumerate() {
            let others = set.columns[at + 1..].iter().filter(|other| other.entry.scope == one.entry.scope);
            let same_judge = others.filter(|other| other.entry.judge == one.entry.judge);
            pairs.extend(same_judge.map(|other| (one.entry.clone(), other.entry.clone())));
        }
    }
    if pairs.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "no two models to compare"));
    }
    let comparisons = stats::compare(&samples.planned(), &observations, &pairs, comparing);
    print(session, &comparisons, args.margin, args.all)?;
    let of = if item.is_empty() { String::new() } else { format!(" of {item}") };
    let pairs = if comparisons.len() == 1 { "1 pair".to_owned() } else { format!("{} pairs", comparisons.len()) };
    session.printer.note(&format!("{pairs}{of}; p_holm is corrected for all pairs of a board"));
    samples.tell_unranked(session);
    Ok(Outcome::Complete)
}

/// Columns that people see; all stand in the other formats, and here with -v.
const FOR_PEOPLE: [&str; 17] = [
    "scope",
    "a",
    "b",
    "item",
    "n",
    "mean_a",
    "mean_b",
    "difference",
    "low",
    "high",
    "better",
    "worse",
    "tost_low",
    "tost_high",
    "p",
    "p_holm",
    "verdict",
];

fn print(session: &Session, comparisons: &[Comparison], margin: Option<f64>, is_all: bool) -> Result<()> {
    let row = |one: &Comparison| -> Vec<(&'static str, Cell)> {
        let item = if one.item.is_empty() { one.sample.as_str() } else { one.item.as_str() };
        vec![
            ("scope", one.scope.as_str().into()),
            ("a", one.a.label().into()),
            ("b", one.b.label().into()),
            ("item", item.into()),
            ("n", one.n.into()),
            ("mean_a", one.mean_a.into()),
            ("mean_b", one.mean_b.into()),
            ("difference", one.difference.into()),
            ("low", one.bounds.map(|bounds| bounds.low).into()),
            ("high", one.bounds.map(|bounds| bounds.high).into()),
            ("method", one.method.into()),
            ("better", one.better.into()),
            ("same", one.same.into()),
            ("worse", one.worse.into()),
            ("p_sign", one.p_sign.into()),
            ("p_wilcoxon", one.p_wilcoxon.into()),
            ("p_unpaired", one.p_unpaired.into()),
            ("tost_low", one.tost.map(|bounds| bounds.low).into()),
            ("tost_high", one.tost.map(|bounds| bounds.high).into()),
            ("p", one.p.into()),
            ("p_holm", one.p_holm.into()),
            ("cohen_dz", one.cohen_dz.into()),
            ("rank_biserial", one.rank_biserial.into()),
            ("verdict", verdict(one, margin).into()),
        ]
    };
    let rows: Vec<Vec<(&str, Cell)>> = comparisons.iter().map(row).collect();
    let for_people =
        matches!(session.printer.format(), Format::Table | Format::Markdown) && !session.printer.is_verbose();
    let all_same = |of: fn(&Comparison) -> String| comparisons.windows(2).all(|pair| of(&pair[0]) == of(&pair[1]));
    let is_shown = |name: &str| match name {
        _ if !for_people => true,
        "scope" => !all_same(|one| one.scope.clone()),
        "a" | "b" => is_all || !(all_same(|one| one.a.label()) && all_same(|one| one.b.label())),
        "tost_low" | "tost_high" => margin.is_some(),
        "item" => !all_same(|one| one.sample.clone() + &one.item),
        _ => FOR_PEOPLE.contains(&name),
    };
    let names: Vec<&str> = rows.first().map_or_else(Vec::new, |row| row.iter().map(|(name, _)| *name).collect());
    let shown: Vec<&str> = names.into_iter().filter(|name| is_shown(name)).collect();
    let kept = |row: Vec<(&str, Cell)>| -> Vec<Cell> {
        row.into_iter().filter(|(name, _)| shown.contains(name)).map(|(_, cell)| cell).collect()
    };
    let cells: Vec<Vec<Cell>> = rows.into_iter().map(kept).collect();
    text_rows::print_rows(session, &shown, &cells)
}

fn verdict(one: &Comparison, margin: Option<f64>) -> String {
    let within = margin.map_or_else(String::new, |margin| format!(" within {margin}"));
    match one.verdict {
        Verdict::NoCommonUnit => "no common prompt".into(),
        Verdict::FirstBetter => format!("{} better", one.a.label()),
        Verdict::SecondBetter => format!("{} better", one.b.label()),
        Verdict::Equivalent => format!("equivalent{within}"),
        Verdict::EquivalentThoughDifferent => format!("different, but equivalent{within}"),
        Verdict::Mixed => "mixed: mean and most prompts disagree".into(),
        Verdict::Identical => "the same on all".into(),
        Verdict::NotSeparated => "not separated".into(),
    }
}

fn largest(samples: &SnapshotSamples, pairs: &[(Entry, Entry)], place: usize, item: &str, most: usize) -> Vec<Change> {
    let of = |(a, b): &(Entry, Entry)| stats::changes(&samples.observations, place, item, a, b, most);
    let mut all: Vec<Change> = pairs.iter().flat_map(of).collect();
    all.sort_by(|a, b| (b.a - b.b).abs().total_cmp(&(a.a - a.b).abs()));
    all.truncate(most);
    all
}

fn print_changes(session: &Session, changes: &[Change]) -> Result<()> {
    let row = |change: &Change| -> [Cell; 5] {
        let difference = change.a - change.b;
        [change.scope.as_str().into(), change.unit.as_str().into(), change.a.into(), change.b.into(), difference.into()]
    };
    let rows: Vec<[Cell; 5]> = changes.iter().map(row).collect();
    text_rows::print(session, ["scope", "prompt", "a", "b", "difference"], &rows)
}
