//! `scorelake snapshot ls|show|verify`

use clap::Subcommand;
use serde_json::Value;

use super::{target, text_rows, to_json};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, ErrorKind, Result};
use crate::report::Format;
use crate::schema::dataset::Dataset;
use crate::snapshot::{self, Snapshot};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the snapshots of a dataset, or of all.
    Ls {
        /// Dataset id.
        dataset: Option<String>,
    },
    /// Show how a snapshot was made.
    Show {
        /// Dataset id, with @ID for one that is not the latest.
        #[arg(value_name = "DATASET[@ID]")]
        target: String,
    },
    /// Recompute every digest; all snapshots of the lake without a target.
    Verify {
        /// Dataset id, with @ID for one that is not the latest.
        #[arg(value_name = "DATASET[@ID]")]
        target: Option<String>,
    },
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    match &args.action {
        Action::Ls { dataset } => ls(session, dataset.as_deref()),
        Action::Show { target } => show(session, target),
        Action::Verify { target } => verify(session, target.as_deref()),
    }
}

fn ls(session: &Session, dataset: Option<&str>) -> Result<Outcome> {
    let lake = session.lake()?;
    let datasets = match dataset {
        Some(id) => vec![Dataset::find(&session.assets, id)?],
        None => Dataset::all(&session.assets)?,
    };
    let mut rows = Vec::new();
    for dataset in datasets {
        for snapshot in snapshot::list(&lake, &dataset.id)? {
            let manifest = snapshot.manifest;
            let is_latest = snapshot::latest(&lake, &dataset.id, &manifest.protocol)?.as_ref() == Some(&manifest.id);
            let parameters: Vec<_> =
                manifest.parameters.iter().map(|(name, value)| format!("{name}={}", plain(&to_json(value)))).collect();
            let rows_in_tables: u64 = manifest.tables.iter().map(|table| table.rows).sum();
            rows.push(
                [
                    dataset.id.clone(),
                    manifest.id,
                    manifest.protocol,
                    if is_latest { "latest" } else { "" }.into(),
                    manifest.status,
                    manifest.metric_version.to_string(),
                    manifest.inputs.len().to_string(),
                    rows_in_tables.to_string(),
                    parameters.join(" "),
                ]
                .map(Some),
            );
        }
    }
    text_rows::print(
        session,
        ["dataset", "id", "protocol", "latest", "status", "metric", "inputs", "rows", "parameters"],
        &rows,
    )?;
    Ok(Outcome::Complete)
}

fn show(session: &Session, target: &str) -> Result<Outcome> {
    let (_, Snapshot { dir, manifest }) = target::find(session, target)?;
    let json = to_json(&manifest);
    if session.printer.format() == Format::Json {
        session.printer.bytes(format!("{json:#}\n").as_bytes())?;
        return Ok(Outcome::Complete);
    }
    let mut rows: Vec<[Option<String>; 2]> = Vec::new();
    let mut push = |key: String, value: String| rows.push([Some(key), Some(value)]);
    for key in ["id", "dataset", "protocol", "status", "metric_version", "tool", "pipeline"] {
        push(key.into(), plain(&json[key]));
    }
    push("folder".into(), dir.display().to_string());
    for (name, value) in &manifest.parameters {
        push(format!("parameter {name}"), plain(&to_json(value)));
    }
    for table in &manifest.tables {
        push(
            format!("table {}", table.name),
            format!("{} rows, {} bytes, rows sha256 {}", table.rows, table.bytes, &table.rows_sha256[..16]),
        );
    }
    for input in &manifest.inputs {
        let mut said = format!(
            "{} records, {} rejected, {} bytes, sha256 {}",
            input.records, input.rejected, input.size, input.sha256
        );
        for (what, value) in [("judge", &input.options.judge), ("model revision", &input.options.model_revision)] {
            if !value.is_empty() {
                said += &format!(", {what} {value}");
            }
        }
        push(format!("input {}", input.uri), said);
    }
    if let Value::Object(findings) = &manifest.findings {
        findings.iter().for_each(|(name, value)| push(format!("finding {name}"), plain(value)));
    }
    for total in &manifest.ledger {
        let counts: Vec<_> =
            ["expected", "ok", "na", "missing", "invalid", "parse_failed", "unexpected", "unknown", "duplicate"]
                .iter()
                .map(|name| format!("{name} {}", plain(&total[*name])))
                .collect();
        push(format!("ledger {} {}", plain(&total["model"]), plain(&total["lang"])), counts.join(", "));
    }
    text_rows::print(session, ["what", "value"], &rows)?;
    Ok(Outcome::Complete)
}

fn verify(session: &Session, target: Option<&str>) -> Result<Outcome> {
    let snapshots = match target {
        Some(target) => vec![target::find(session, target)?.1],
        None => {
            let lake = session.lake()?;
            let mut all = Vec::new();
            for dataset in Dataset::all(&session.assets)? {
                all.extend(snapshot::list(&lake, &dataset.id)?);
            }
            all
        }
    };
    if snapshots.is_empty() {
        return Err(Error::new(ErrorKind::Lake, "the lake has no snapshot to verify")
            .hint("make one with `scorelake score DATASET`"));
    }
    let mut rows = Vec::new();
    let mut problems = 0;
    for snapshot in &snapshots {
        let verified = snapshot::verify(snapshot)?;
        let (id, tables, count) = (verified.id, verified.tables.to_string(), verified.rows.to_string());
        problems += verified.problems.len();
        let results = if verified.problems.is_empty() { vec!["ok".to_owned()] } else { verified.problems };
        rows.extend(results.into_iter().map(|result| [id.clone(), tables.clone(), count.clone(), result].map(Some)));
    }
    text_rows::print(session, ["snapshot", "tables", "rows", "result"], &rows)?;
    if problems > 0 {
        return Err(Error::new(ErrorKind::Corrupt, format!("{problems} things differ from what was recorded"))
            .hint("the snapshot was changed after it was published: do not use it; score again from the inputs"));
    }
    Ok(Outcome::Complete)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "—".into(),
        other => other.to_string(),
    }
}
