//! `scorelake show`

use serde_json::Value;

use super::{board, subset, target};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::Result;
use crate::pipeline::Pipeline;
use crate::report::Format;
use crate::snapshot::Snapshot;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Dataset id, with @ID for a snapshot (an id, a prefix of one, or a protocol).
    #[arg(value_name = "DATASET[@ID]")]
    target: String,
    /// Table of the snapshot; if absent, the one that a run shows.
    table: Option<String>,
    /// Rows at most; 100 in tables for people, all otherwise.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// The board over the prompts that every model of it has, instead of a table.
    #[arg(long, conflicts_with_all = ["table", "limit"])]
    common: bool,
    /// The board over prompts whose every part was judged, instead of a table.
    #[arg(long, conflicts_with_all = ["table", "limit"])]
    complete_only: bool,
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    if args.common || args.complete_only {
        return subset::print(session, &args.target, args.common, args.complete_only);
    }
    let (dataset, snapshot) = target::find(session, &args.target)?;
    let shows = Pipeline::of_dataset(&session.assets, &dataset.id)?.into_iter().flat_map(|pipeline| pipeline.show);
    let shows: Vec<String> = shows.collect();
    // A snapshot of a pipeline of one's own may have none of them: then it has tables that the error names.
    let name = args.table.as_ref().or_else(|| snapshot.shown(&shows)).or_else(|| shows.first());
    table(session, &snapshot, name.map_or("leaderboard", String::as_str), args.limit)?;
    Ok(Outcome::Complete)
}

/// Prints a table of a snapshot.
pub(super) fn table(session: &Session, snapshot: &Snapshot, name: &str, limit: Option<usize>) -> Result<()> {
    let for_people = matches!(session.printer.format(), Format::Table | Format::Markdown);
    let limit = limit.or(for_people.then_some(100)).unwrap_or(usize::MAX);
    let rows = snapshot.rows(name, limit)?;
    let (schema, total) = (rows.schema.clone(), rows.total);
    let mut batches = rows.collect::<Result<Vec<_>>>()?;
    let mut schema = schema;
    if for_people {
        (schema, batches) = board::with_standings(session, snapshot, name, schema, batches)?;
    }
    session.printer.rows(&schema, &batches, for_people)?;
    if total > limit {
        let manifest = &snapshot.manifest;
        let target = format!("{}@{}", manifest.dataset, manifest.id.get(..8).unwrap_or(&manifest.id));
        session.printer.note(&format!(
            "{limit} of {total} rows; all: scorelake{} show {target} {name} --limit {total}",
            session.lake_option()
        ));
    }
    Ok(())
}

/// The ledger's totals, in a line a model.
pub(super) fn ledger_summary(session: &Session, snapshot: &Snapshot) {
    session.printer.note("ledger:");
    for row in &snapshot.manifest.ledger {
        session.printer.note(&format!("  {}", ledger_line(row)));
    }
}

/// `model lang: expected = ok + …; outside the sum`, of the columns that the ledger has.
pub(super) fn ledger_line(row: &Value) -> String {
    const SUM: [&str; 6] = ["ok", "na", "missing", "invalid", "parse_failed", "skipped"];
    const OUTSIDE: [&str; 3] = ["unexpected", "unknown", "duplicate"];
    let count =
        |name: &str| row.get(name).map(|count| count.as_i64().map_or("—".to_owned(), |count| count.to_string()));
    const NAMES: [&str; 8] = ["collection", "run", "assessor", "metric", "model", "model_revision", "judge", "lang"];
    let names = NAMES.iter().filter_map(|key| row[*key].as_str());
    let mut names: Vec<_> = names.filter(|text| !text.is_empty()).collect();
    if names.is_empty() {
        names.push("all");
    }
    let terms: Vec<_> = SUM.iter().filter_map(|state| Some(format!("{} {state}", count(state)?))).collect();
    let expected = count("expected").unwrap_or("—".into());
    let mut line = format!("{}: {expected} expected = {}", names.join(" "), terms.join(" + "));
    for outside in OUTSIDE.iter().filter(|name| row[**name].as_i64().is_some_and(|count| count > 0)) {
        line += &format!("; {} {outside}", row[*outside]);
    }
    line
}
