//! `scorelake verify`

use std::path::PathBuf;

use super::samples::pipeline_of;
use super::target;
use super::text_rows::{self, Cell as Printable};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, ErrorKind, Result};
use crate::grid::Grid;
use crate::lake::Staging;
use crate::lake::manifest::Manifest;
use crate::pipeline::{Pipeline, PublishedEntry};
use crate::published::{self, Cell, Checked, Compared, Names, PublishedTable, Rules, State};
use crate::report::Format;
use crate::schema::dataset::Dataset;
use crate::score;
use crate::snapshot::Snapshot;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Dataset id, with @ID for a snapshot (an id, a prefix of one, or a protocol). Without it published tables are checked for being
    /// consistent in themselves.
    #[arg(value_name = "DATASET[@ID]")]
    target: Option<String>,
    /// A CSV file, or the name of a table in data/published; all that belong to the dataset if absent.
    #[arg(long, value_name = "FILE")]
    published: Option<String>,
    /// A CSV file with the columns published and ours: names that differ.
    #[arg(long, value_name = "FILE", requires = "target")]
    names: Option<PathBuf>,
    /// How far apart two numbers may be; half a unit of the last printed digit if absent.
    #[arg(long, value_name = "T", value_parser = parse_tolerance, requires = "target")]
    tolerance: Option<f64>,
}

/// A number from 0.
pub(super) fn parse_tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(value),
        Ok(_) => Err("a number from 0".into()),
        Err(error) => Err(error.to_string()),
    }
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let given = args.published.as_deref().map(|name| PublishedTable::load(&session.assets, name)).transpose()?;
    match &args.target {
        Some(target) => {
            let (dataset, snapshot) = target::find(session, target)?;
            beside_snapshot(session, args, &dataset, &snapshot, given)
        }
        None => alone(session, given),
    }
}

/// Checks tables for being consistent in themselves.
fn alone(session: &Session, given: Option<PublishedTable>) -> Result<Outcome> {
    let one = given.is_some();
    let tables = given.map_or_else(|| PublishedTable::all(&session.assets), |table| Ok(vec![table]))?;
    let mut rows: Vec<[Printable; 7]> = Vec::new();
    let mut is_checked = false;
    for table in &tables {
        let (checked, skipped) = published::check(&session.assets, session.engine(), table)?;
        skipped.iter().for_each(|what| session.printer.warn(&format!("{}: not checked: {what}", table.name)));
        if checked.is_empty() && one {
            session.printer.warn(&format!(
                "no check knows the columns of {}: {}",
                table.name,
                table.columns.join(", ")
            ));
        }
        is_checked |= !checked.is_empty();
        for check in checked {
            session.printer.note(&format!(
                "{}: {}: {} figures, {} of them impossible{}",
                table.name,
                check.check,
                check.figures,
                check.faults.len(),
                if check.faults.is_empty() { String::new() } else { format!(" ({})", check.question) }
            ));
            rows.extend(faults(table, &check));
        }
    }
    let outcome = if rows.is_empty() && is_checked { Outcome::Complete } else { Outcome::Partial };
    text_rows::print(session, ["published", "check", "row", "column", "printed", "at_least", "at_most"], &rows)?;
    Ok(outcome)
}

fn faults(table: &PublishedTable, check: &Checked) -> Vec<[Printable; 7]> {
    let row = |fault: &published::Fault| {
        [
            table.name.as_str().into(),
            fault.check.as_str().into(),
            fault.row.as_str().into(),
            fault.column.as_str().into(),
            fault.printed.into(),
            fault.low.into(),
            fault.high.into(),
        ]
    };
    check.faults.iter().map(row).collect()
}

fn beside_snapshot(
    session: &Session,
    args: &Args,
    dataset: &Dataset,
    snapshot: &Snapshot,
    given: Option<PublishedTable>,
) -> Result<Outcome> {
    let pipeline = pipeline_of(session, snapshot)?;
    let tables = match given {
        Some(table) => vec![table],
        None => pipeline
            .published
            .iter()
            .map(|entry| PublishedTable::load(&session.assets, &entry.table))
            .collect::<Result<Vec<_>>>()?,
    };
    if tables.is_empty() {
        return Err(Error::new(ErrorKind::Usage, format!("no published table is known for {}", dataset.id))
            .hint("--published FILE names one"));
    }
    let mut cells = Vec::new();
    for table in &tables {
        let entries = published::entries_for(&pipeline, table, &snapshot.manifest)?;
        let mut whole = Compared::default();
        for entry in &entries {
            snapshot.table(&entry.result)?;
            let names = Names::load(&session.assets, &dataset.id, &entry.names, args.names.as_deref())?;
            let ours = Grid::of(snapshot.rows(&entry.result, usize::MAX)?)?;
            let mut compared = published::compare(table, entry, &ours, &names, args.tolerance);
            if compared.cells.iter().any(|cell| cell.state == State::Differs) {
                let rules = rules(session, &pipeline, dataset, snapshot, entry)?;
                compared.cells.iter_mut().for_each(|cell| published::explain(cell, entry, &ours, &rules));
            }
            whole.join(compared);
        }
        tell(session, table, &whole);
        let unused = published::not_compared(table, &entries);
        if !unused.is_empty() {
            session.printer.note(&format!("  columns that were not compared: {}", unused.join(", ")));
        }
        cells.extend(whole.cells);
        for check in published::check(&session.assets, session.engine(), table)?.0 {
            if !check.faults.is_empty() {
                session.printer.warn(&format!(
                    "{} is not consistent in itself: {} of {} figures ({}); scorelake verify --published {}",
                    table.name,
                    check.faults.len(),
                    check.figures,
                    check.check,
                    table.name
                ));
            }
        }
    }
    print(session, &cells)?;
    let is_compared = |cell: &Cell| matches!(cell.state, State::Match | State::Differs);
    if !cells.iter().any(is_compared) {
        session.printer.warn(
            "no figure could be compared: no number can be read, or no name is that of a row (--names FILE maps them)",
        );
        return Ok(Outcome::Partial);
    }
    let differs = cells.iter().any(|cell| cell.state == State::Differs);
    Ok(if differs { Outcome::Partial } else { Outcome::Complete })
}

/// The counts, and the rows that one of both lacks.
fn tell(session: &Session, table: &PublishedTable, compared: &Compared) {
    let count = |state: State| compared.cells.iter().filter(|cell| cell.state == state).count();
    let compared_cells = count(State::Match) + count(State::Differs);
    session.printer.note(&format!(
        "{}: {} of {compared_cells} figures match, {} differ; {} not computable{}",
        table.name,
        count(State::Match),
        count(State::Differs),
        count(State::NotComputable),
        match count(State::NotReadable) {
            0 => String::new(),
            some => format!("; {some} not readable (-v lists them)"),
        }
    ));
    if !compared.twice.is_empty() {
        let twice: Vec<&str> = compared.twice.iter().map(String::as_str).collect();
        session.printer.warn(&format!("{}: several rows are called {}", table.name, twice.join(", ")));
    }
    let told = |what: &str, rows: Vec<&str>| {
        if !rows.is_empty() {
            session.printer.note(&format!("  {what}: {}", rows.join(", ")));
        }
    };
    told("published, not in the snapshot", compared.missing.iter().map(String::as_str).collect());
    told("in the snapshot, not published", compared.unpublished.iter().map(String::as_str).collect());
}

/// What else the numbers could have been: the other protocols and parameters over the same sources, and the snapshot's sensitivity.
fn rules(
    session: &Session,
    pipeline: &Pipeline,
    dataset: &Dataset,
    snapshot: &Snapshot,
    entry: &PublishedEntry,
) -> Result<Rules> {
    let mut rules = Rules::default();
    if snapshot.table("sensitivity").is_ok() {
        rules.sensitivity = Grid::of(snapshot.rows("sensitivity", usize::MAX)?)?;
        rules.sensitivity_of.clone_from(&pipeline.sensitivity);
    }
    let lake = session.lake()?;
    let _reading = lake.reading(&dataset.id)?;
    let manifest = Manifest::load(&lake, &dataset.id)?;
    let mut own: Vec<&str> = manifest.sources.iter().map(|source| source.sha256.as_str()).collect();
    let mut scored: Vec<&str> = snapshot.manifest.inputs.iter().map(|input| input.sha256.as_str()).collect();
    own.sort_unstable();
    scored.sort_unstable();
    if own == scored {
        let made = (snapshot.manifest.protocol.as_str(), &snapshot.manifest.parameters);
        for (name, plan) in pipeline.variants(&session.assets, made)? {
            let staging = match Staging::private(&lake, "verify") {
                Ok(staging) => staging,
                // A lake that cannot be written to can be verified.
                Err(error) => {
                    session
                        .printer
                        .warn(&format!("other protocols and parameters were not tried: {}", error.message()));
                    break;
                }
            };
            let options = session.engine();
            let rows =
                score::result_rows(&session.assets, &lake, &manifest, &plan, options, &entry.result, staging.path())?;
            if let Some(rows) = rows {
                rules.variants.push((name, Grid::of(rows.into_iter().map(Ok))?));
            }
        }
    } else {
        session
            .printer
            .note("the lake has other sources than the snapshot: other protocols and parameters were not tried");
    }
    Ok(rules)
}

/// All cells in formats for machines and with -v; else those that do not match and are no rows that the snapshot lacks.
fn print(session: &Session, cells: &[Cell]) -> Result<()> {
    let for_people =
        matches!(session.printer.format(), Format::Table | Format::Markdown) && !session.printer.is_verbose();
    let is_shown = |cell: &&Cell| !for_people || cell.state == State::Differs;
    let row = |cell: &Cell| -> [Printable; 9] {
        let published = published::Printed::parse(&cell.published).map(|printed| printed.value);
        [
            cell.table.as_str().into(),
            cell.row.as_str().into(),
            cell.column.as_str().into(),
            cell.published.as_str().into(),
            cell.ours.into(),
            cell.ours.zip(published).map(|(ours, published)| ours - published).into(),
            cell.n.filter(|n| *n >= 0.0).map(|n| n as u64).into(),
            cell.state.name().into(),
            cell.reason.as_str().into(),
        ]
    };
    let rows: Vec<[Printable; 9]> = cells.iter().filter(is_shown).map(row).collect();
    let names = ["published", "row", "column", "printed", "ours", "difference", "n", "state", "reason"];
    if for_people && rows.is_empty() {
        session.printer.note("no figure differs; -v lists all");
        return Ok(());
    }
    text_rows::print(session, names, &rows)
}
