//! `scorelake snapshot diff`

use serde_json::{Map, Value, json};

use super::samples::pipeline_of;
use super::text_rows::{self, Cell, chance};
use super::verify::parse_tolerance;
use super::{gates, target};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, ErrorKind, Result};
use crate::report::Format;
use crate::schema::dataset::Dataset;
use crate::snapshot::{self, Difference, Kind, Section, Snapshot};
use crate::stats::{self, Comparison, Drift, Verdict};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The earlier one: dataset id, with @ID for a snapshot (an id, a prefix of one, or a protocol).
    #[arg(value_name = "DATASET[@ID]")]
    before: String,
    /// The later one: the same, or an id, a prefix of one, or a protocol.
    #[arg(value_name = "DATASET[@ID]|ID")]
    after: String,
    /// Numbers that are at most so far apart are equal.
    #[arg(long, value_name = "T", default_value_t = 0.0, value_parser = parse_tolerance)]
    tolerance: f64,
    /// Digits behind the point to which changes are rounded.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u8).range(0..=15))]
    digits: u8,
    /// Only rows of this table.
    #[arg(long, value_name = "TABLE")]
    table: Option<String>,
}

/// The table that drift is of.
const HEALTH: &str = "judge_health";
/// Level of the tests that rows of people are marked by.
const LEVEL: f64 = 0.05;
/// Rows of one table that people see without -v.
const SHOWN: usize = 8;

pub(super) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let (dataset, before) = target::find(session, &args.before)?;
    let name = args.after.split('@').next().unwrap_or_default();
    let is_dataset = name == dataset.id;
    if !is_dataset && Dataset::find(&session.assets, name).is_ok() {
        return Err(Error::new(ErrorKind::Usage, format!("a snapshot of {} and one of {name}", dataset.id))
            .hint("two snapshots of one dataset can be compared"));
    }
    let after = if is_dataset { args.after.clone() } else { format!("{}@{}", dataset.id, args.after) };
    let after = target::find(session, &after)?.1;
    if let Some(table) = &args.table {
        // A table that neither has would never differ.
        before.table(table).or_else(|_| after.table(table))?;
    }
    let mut differences = snapshot::diff(&before, &after, args.tolerance)?;
    if let Some(table) = &args.table {
        differences.retain(|difference| difference.what == *table);
    }
    let significance = if before.manifest.id == after.manifest.id || args.table.is_some() {
        Vec::new()
    } else {
        match gates::changes(session, &dataset, &before, &after) {
            Ok(changes) => changes.into_iter().filter(|one| one.n > 0 && one.better + one.worse > 0).collect(),
            Err(error) if !matches!(error.kind(), ErrorKind::Lacking | ErrorKind::Usage) => return Err(error),
            Err(error) => {
                session.printer.note(&format!("no significance of changes: {}", error.message()));
                Vec::new()
            }
        }
    };
    let drift = match args.table.as_deref() {
        None | Some(HEALTH) => drift(&before, &after)?,
        Some(_) => Vec::new(),
    };
    if session.printer.format() == Format::Json {
        return print_json(session, args, &differences, &significance, &drift);
    }
    if differences.is_empty() {
        session.printer.note("no changes");
    }
    let boards = pipeline_of(session, &after)?.show;
    print_flat(session, args, &boards, (&differences, &significance, &drift))?;
    Ok(Outcome::Complete)
}

/// How the judge's scores moved, where both snapshots tell of its health.
fn drift(before: &Snapshot, after: &Snapshot) -> Result<Vec<Drift>> {
    const TABLE: &str = HEALTH;
    if before.table(TABLE).is_err() || after.table(TABLE).is_err() || before.manifest.id == after.manifest.id {
        return Ok(Vec::new());
    }
    let grid = |snapshot: &Snapshot| crate::grid::Grid::of(snapshot.rows(TABLE, usize::MAX)?);
    let mut drift = stats::drift(&grid(before)?, &grid(after)?);
    drift.retain(|one| one.statistic > 0.0);
    Ok(drift)
}

/// A number rounded once to so many digits, without the noise that subtraction leaves.
fn rounded(number: f64, digits: u8) -> f64 {
    format!("{number:.*}", usize::from(digits)).parse().unwrap_or(number)
}

fn print_json(
    session: &Session,
    args: &Args,
    differences: &[Difference],
    significance: &[Comparison],
    drift: &[Drift],
) -> Result<Outcome> {
    let mut object = Map::new();
    for section in Section::ALL {
        let row = |one: &Difference| {
            json!({
                "kind": one.kind.name(),
                "what": one.what,
                "row": one.row,
                "column": one.column,
                "before": one.before,
                "after": one.after,
                "change": one.change.map(|change| rounded(change, args.digits)),
            })
        };
        let rows: Vec<Value> = differences.iter().filter(|one| one.section == section).map(row).collect();
        object.insert(section.name().into(), Value::Array(rows));
    }
    let row = |one: &Comparison| {
        json!({
            "model": one.a.label(),
            "scope": one.scope,
            "item": item(one),
            "n": one.n,
            "before": one.mean_b,
            "after": one.mean_a,
            "change": one.difference.map(|change| rounded(change, args.digits)),
            "low": one.bounds.map(|bounds| bounds.low),
            "high": one.bounds.map(|bounds| bounds.high),
            "p_holm": one.p_holm,
            "verdict": verdict(one),
        })
    };
    object.insert("significance".into(), significance.iter().map(row).collect());
    let row = |one: &Drift| {
        json!({
            "row": one.row,
            "before": one.before,
            "after": one.after,
            "n_before": one.n_before,
            "n_after": one.n_after,
            "chi2": one.statistic,
            "df": one.df,
            "p_holm": one.p_holm,
        })
    };
    object.insert("drift".into(), drift.iter().map(row).collect());
    let text = serde_json::to_string_pretty(&Value::Object(object));
    let text = text.map_err(|e| Error::new(ErrorKind::Check, e.to_string()).caused_by(e))?;
    session.printer.bytes(format!("{text}\n").as_bytes())?;
    Ok(Outcome::Complete)
}

fn item(one: &Comparison) -> &str {
    if one.item.is_empty() { &one.sample } else { &one.item }
}

fn verdict(one: &Comparison) -> &'static str {
    match one.verdict {
        Verdict::FirstBetter => "better",
        Verdict::SecondBetter => "worse",
        _ => "not separated",
    }
}

/// A scored file in few words.
fn file(value: &Value) -> String {
    let digest = value["sha256"].as_str().unwrap_or_default();
    format!("{} records, sha256 {}…", value["records"], digest.get(..8).unwrap_or(digest))
}

/// Every difference a row, whatever it is about.
fn print_flat(
    session: &Session,
    args: &Args,
    boards: &[String],
    (differences, significance, drift): (&[Difference], &[Comparison], &[Drift]),
) -> Result<()> {
    let is_table = matches!(session.printer.format(), Format::Table | Format::Markdown);
    let all = !is_table || session.printer.is_verbose();
    let shown = |value: &Value| -> Cell {
        match value {
            Value::Null => Cell::Empty,
            Value::String(text) if text.len() == 64 && is_table => text[..12].into(),
            Value::String(text) => text.as_str().into(),
            Value::Number(number) => match number.as_f64() {
                Some(number) if is_table => rounded(number, args.digits).to_string().into(),
                _ => number.to_string().into(),
            },
            Value::Object(_) if is_table => file(value).into(),
            other => other.to_string().into(),
        }
    };
    let mut rows: Vec<[Cell; 9]> = Vec::new();
    let is_of_rows = |one: &&Difference| matches!(one.section, Section::Rows | Section::Ledger | Section::JudgeHealth);
    let row = |one: &Difference| -> [Cell; 9] {
        [
            one.section.name().into(),
            one.kind.name().into(),
            one.what.as_str().into(),
            one.row.as_str().into(),
            one.column.as_str().into(),
            shown(&one.before),
            shown(&one.after),
            one.change.map(|change| rounded(change, args.digits).to_string()).into(),
            Cell::Empty,
        ]
    };
    rows.extend(differences.iter().filter(|one| !is_of_rows(one)).map(row));
    for one in significance {
        let number = |value: Option<f64>| value.map(|value| rounded(value, args.digits).to_string());
        rows.push([
            "significance".into(),
            verdict(one).into(),
            item(one).into(),
            format!("{} {}", one.a.label(), one.scope).trim().into(),
            Cell::Empty,
            number(one.mean_b).into(),
            number(one.mean_a).into(),
            number(one.difference).into(),
            format!("n {}, p {}", one.n, chance(one.p_holm)).into(),
        ]);
    }
    let told = |one: &&Drift| all || one.p_holm < LEVEL;
    for one in drift.iter().filter(told) {
        rows.push([
            "drift".into(),
            if one.p_holm < LEVEL { "moved" } else { "not separated" }.into(),
            "scores of the judge".into(),
            one.row.as_str().into(),
            Cell::Empty,
            one.before.as_str().into(),
            one.after.as_str().into(),
            Cell::Empty,
            format!("chi2 {:.2}, df {}, p {}", one.statistic, one.df, chance(one.p_holm)).into(),
        ]);
    }
    // What a board says comes before what it is made of.
    let mut tables: Vec<&str> = Vec::new();
    for one in differences.iter().filter(is_of_rows) {
        if !tables.contains(&one.what.as_str()) {
            tables.push(&one.what);
        }
    }
    tables.sort_by_key(|table| boards.iter().position(|board| board == table).unwrap_or(boards.len()));
    for table in tables {
        let own: Vec<&Difference> = differences.iter().filter(is_of_rows).filter(|one| one.what == table).collect();
        let most = if all { own.len() } else { SHOWN };
        rows.extend(own.iter().take(most).map(|one| row(one)));
        if own.len() > most {
            session.printer.note(&format!("{table}: {most} of {} differences shown; -v shows all", own.len()));
        }
    }
    let names = ["section", "kind", "what", "row", "column", "before", "after", "change", "note"];
    if rows.is_empty() && is_table {
        return session.printer.bytes(b"no changes\n");
    }
    let count = |kind: Kind| differences.iter().filter(|one| one.kind == kind).count();
    text_rows::print(session, names, &rows)?;
    if !differences.is_empty() {
        session.printer.note(&format!(
            "{} changed, {} added, {} removed",
            count(Kind::Changed),
            count(Kind::Added),
            count(Kind::Removed)
        ));
    }
    Ok(())
}
