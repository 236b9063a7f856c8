//! `scorelake lake info|gc|copy|drop-source`

use std::path::PathBuf;
use std::time::Duration;

use clap::Subcommand;

use super::parse_age;
use super::text_rows::{self, Cell};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, ErrorKind, Result};
use crate::lake::Lake;
use crate::lake::manifest::Manifest;
use crate::lake::upkeep::{self, Collected, Moved};
use crate::schema::dataset::Dataset;
use crate::snapshot::{self, Snapshot};

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// What the lake holds: tables with parts, rows and bytes; or its sources.
    Info {
        /// Dataset id; all if absent.
        dataset: Option<String>,
        /// The sources instead of the tables.
        #[arg(long)]
        sources: bool,
    },
    /// Remove what nothing names: parts of replaced sources, and work that was cut short and would be gone on with.
    Gc {
        /// Only what was written so long ago, such as 90s, 12h or 7d. In a bucket 1d if absent: younger files may be of a writer that has
        /// not published yet. On disk locks tell, and all goes.
        #[arg(long, value_name = "AGE", value_parser = parse_age)]
        older_than: Option<Duration>,
    },
    /// Copy the lake to a folder or a bucket; every file is read back and held against its source by SHA-256, snapshots against their own
    /// digests. What is there already and the same stays.
    Copy {
        /// A new folder, or one with an earlier copy, or s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX.
        #[arg(value_name = "DIR|URL")]
        to: PathBuf,
    },
    /// Take sources out again; snapshots keep their own data.
    DropSource {
        /// Dataset id.
        dataset: String,
        /// A place it was read from, the end of one such as the file's name, or the beginning of its key.
        #[arg(value_name = "SOURCE", required = true)]
        sources: Vec<String>,
    },
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    match &args.action {
        Action::Info { dataset, sources } => info(session, dataset.as_deref(), *sources),
        Action::Gc { older_than } => gc(session, *older_than),
        Action::Copy { to } => {
            let ids = ids(session, None)?;
            let copied = upkeep::copy(&session.lake()?, to, &ids)?;
            session.printer.note(&format!("copied {}; all that was to be copied is there and the same", told(copied)));
            require_sound(session, &Lake::open(to)?)?;
            Ok(Outcome::Complete)
        }
        Action::DropSource { dataset, sources } => {
            let dataset = Dataset::find(&session.assets, dataset)?;
            let lake = session.lake()?;
            let dropped = upkeep::drop_sources(&lake, &session.assets, session.engine(), &dataset.id, sources)?;
            for source in dropped {
                session.printer.note(&format!("dropped {}: {} records", source.uris.join(", "), source.records));
            }
            session.printer.note(&format!("next: scorelake{} score {}", session.lake_option(), dataset.id));
            Ok(Outcome::Complete)
        }
    }
}

/// A copy is as sound as what was copied: snapshots are held against their digests.
fn require_sound(session: &Session, lake: &Lake) -> Result<()> {
    for id in ids(session, None)? {
        for folder in snapshot::folders(lake, &id)? {
            let verified = snapshot::verify(&Snapshot::open(folder.clone())?)?;
            if let Some(problem) = verified.problems.first() {
                return Err(Error::new(
                    ErrorKind::Corrupt,
                    format!("the copy is as broken as what was copied: {problem}"),
                )
                .with("snapshot", folder)
                .hint("`scorelake snapshot verify` tells all that differs; score again"));
            }
        }
    }
    Ok(())
}

fn told(moved: Moved) -> String {
    let files = if moved.files == 1 { "1 file".to_owned() } else { format!("{} files", moved.files) };
    format!("{files}, {} bytes", moved.bytes)
}

fn ids(session: &Session, dataset: Option<&str>) -> Result<Vec<String>> {
    match dataset {
        Some(id) => Ok(vec![Dataset::find(&session.assets, id)?.id]),
        None => Ok(Dataset::all(&session.assets)?.into_iter().map(|dataset| dataset.id).collect()),
    }
}

fn info(session: &Session, dataset: Option<&str>, is_of_sources: bool) -> Result<Outcome> {
    let lake = session.lake()?;
    let mut tables: Vec<[Cell; 5]> = Vec::new();
    let mut sources: Vec<[Cell; 8]> = Vec::new();
    for id in ids(session, dataset)? {
        let manifest = Manifest::load(&lake, &id)?;
        for (table, size) in upkeep::sizes(&manifest) {
            tables.push([id.as_str().into(), table.into(), size.parts.into(), size.rows.into(), size.bytes.into()]);
        }
        for source in &manifest.sources {
            sources.push([
                id.as_str().into(),
                source.key.get(..12).unwrap_or(&source.key).into(),
                source.uris.join(", ").into(),
                source.records.into(),
                source.rejected.into(),
                source.size.into(),
                source.revision.as_deref().into(),
                source.sha256.as_str().into(),
            ]);
        }
    }
    if is_of_sources {
        let names = ["dataset", "key", "uris", "records", "rejected", "bytes", "revision", "sha256"];
        text_rows::print(session, names, &sources)?;
    } else {
        text_rows::print(session, ["dataset", "table", "parts", "rows", "bytes"], &tables)?;
    }
    Ok(Outcome::Complete)
}

/// In a bucket, how old a file is that no writer will name any more.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn gc(session: &Session, older_than: Option<Duration>) -> Result<Outcome> {
    let lake = session.lake()?;
    let default = if lake.root().path().is_some() { Duration::ZERO } else { A_DAY };
    let age = older_than.unwrap_or(default);
    if age < A_DAY && lake.root().path().is_none() {
        session
            .printer
            .warn("younger files may be of a run that has not published yet: be sure that none is under way");
    }
    let mut outcome = Outcome::Complete;
    for id in ids(session, None)? {
        match upkeep::collect_garbage(&lake, &id, age)? {
            Collected::Removed(Moved { files: 0, .. }) => {}
            Collected::Removed(removed) => session.printer.note(&format!("{id}: removed {}", told(removed))),
            Collected::InUse => {
                session.printer.warn(&format!("{id} is being read: nothing of it was removed; run again later"));
                outcome = Outcome::Partial;
            }
        }
    }
    let closed = upkeep::close_runs(&lake, age)?;
    if closed > 0 {
        session.printer.note(&format!("records of runs that never ended: closed {closed}"));
    }
    let staged = upkeep::collect_staging(&lake)?;
    session.printer.note(&format!("unfinished work: removed {}", told(staged)));
    Ok(outcome)
}
