//! `scorelake snapshot ls|show|verify|diff`

use clap::Subcommand;

use super::text_rows::{self, Cell};
use super::{snapshot_diff, snapshot_show, target};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::Pipeline;
use crate::schema::dataset::Dataset;
use crate::snapshot::{self, Snapshot, SnapshotManifest};

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
    /// What differs between two snapshots: how they were made, from what, row by row, and whether chance could have done it.
    Diff(snapshot_diff::Args),
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
        Action::Show { target } => snapshot_show::show(session, target),
        Action::Diff(args) => snapshot_diff::execute(session, args),
        Action::Verify { target } => verify(session, target.as_deref()),
    }
}

fn ls(session: &Session, dataset: Option<&str>) -> Result<Outcome> {
    let lake = session.lake()?;
    let datasets = match dataset {
        Some(id) => vec![Dataset::find(&session.assets, id)?],
        None => Dataset::all(&session.assets)?,
    };
    let mut rows: Vec<[Cell; 11]> = Vec::new();
    for dataset in datasets {
        let pipelines = Pipeline::of_dataset(&session.assets, &dataset.id)?;
        for folder in snapshot::folders(&lake, &dataset.id)? {
            let snapshot = match Snapshot::open(folder) {
                Ok(snapshot) => snapshot,
                Err(error) => {
                    session.printer.warn(&error.to_string());
                    continue;
                }
            };
            let manifest = snapshot.manifest;
            let is_latest = snapshot::latest(&lake, &dataset.id, &manifest.protocol)?.as_ref() == Some(&manifest.id);
            let stale = stale(&pipelines, &manifest);
            if !stale.is_empty() {
                session.printer.warn(&format!("{}: {stale}", manifest.id));
            }
            let parameters: Vec<_> =
                manifest.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
            rows.push([
                dataset.id.as_str().into(),
                manifest.id.into(),
                manifest.protocol.into(),
                if is_latest { "latest" } else { "" }.into(),
                manifest.status.into(),
                manifest.pipeline.into(),
                u64::from(manifest.metric_version).into(),
                if stale.is_empty() { "" } else { "stale" }.into(),
                (manifest.inputs.len() as u64).into(),
                manifest.tables.iter().map(|table| table.rows).sum::<u64>().into(),
                parameters.join(" ").into(),
            ]);
        }
    }
    let names = [
        "dataset",
        "id",
        "protocol",
        "latest",
        "status",
        "pipeline",
        "metric",
        "stale",
        "inputs",
        "rows",
        "parameters",
    ];
    text_rows::print(session, names, &rows)?;
    Ok(Outcome::Complete)
}

/// Which metric gives other digits since a snapshot was made; empty if none does.
fn stale(pipelines: &[Pipeline], manifest: &SnapshotManifest) -> String {
    match pipelines.iter().find(|pipeline| pipeline.name == manifest.pipeline) {
        Some(pipeline) if pipeline.metric_version > manifest.metric_version => format!(
            "stale: made by version {} of the metric {}, which is at version {}; score again",
            manifest.metric_version, pipeline.name, pipeline.metric_version
        ),
        _ => String::new(),
    }
}

fn verify(session: &Session, target: Option<&str>) -> Result<Outcome> {
    let folders = match target {
        Some(target) => vec![target::find(session, target)?.1.dir],
        None => {
            let lake = session.lake()?;
            let datasets = Dataset::all(&session.assets)?;
            let all =
                datasets.iter().map(|dataset| snapshot::folders(&lake, &dataset.id)).collect::<Result<Vec<_>>>()?;
            all.concat()
        }
    };
    if folders.is_empty() {
        return Err(Error::new(ErrorKind::Lake, "the lake has no snapshot to verify")
            .hint("make one with `scorelake score DATASET`"));
    }
    let mut rows: Vec<[Cell; 4]> = Vec::new();
    let mut problems = 0;
    for folder in folders {
        let name = folder.name();
        let (tables, count, found) = match Snapshot::open(folder).and_then(|snapshot| snapshot::verify(&snapshot)) {
            Ok(verified) => (Cell::Count(verified.tables as u64), Cell::Count(verified.rows), verified.problems),
            Err(error) if error.kind() == ErrorKind::Network => return Err(error),
            Err(error) => (Cell::Empty, Cell::Empty, vec![format!("manifest.json: {}", error.message())]),
        };
        problems += found.len();
        let results = if found.is_empty() { vec!["ok".to_owned()] } else { found };
        rows.extend(
            results.into_iter().map(|result| [name.as_str().into(), tables.clone(), count.clone(), result.into()]),
        );
    }
    text_rows::print(session, ["snapshot", "tables", "rows", "result"], &rows)?;
    if problems > 0 {
        let things = if problems == 1 { "1 thing differs" } else { "several things differ" };
        return Err(Error::new(ErrorKind::Corrupt, format!("{things} from what was recorded"))
            .hint("the snapshot was changed after it was published: do not use it; score again from the inputs"));
    }
    Ok(Outcome::Complete)
}
