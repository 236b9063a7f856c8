//! `scorelake publish`

use std::path::Path;

use super::text_rows::{self, Cell};
use super::{board, target};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::Result;
use crate::fetch::Environment;
use crate::pipeline::Pipeline;
use crate::publish::{self, Board, HubTarget, Outgoing, Replaced};
use crate::report::{Format, TableOptions, write_batches};
use crate::schema::dataset::Dataset;
use crate::snapshot::Snapshot;
use crate::store::Folder;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Dataset id, with @ID for a snapshot (an id, a prefix of one, or a protocol).
    #[arg(value_name = "DATASET[@ID]")]
    snapshot: String,
    /// hf://datasets/OWNER/NAME[@BRANCH][/FOLDER], s3://BUCKET/PREFIX, gs://…, az://… or a folder.
    target: String,
    /// Show the files and the card, and write nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Rows of the board that the card shows.
const SHOWN: usize = 100;
/// Rows of a table that is no board.
const SHOWN_OF_OTHERS: usize = 20;

enum Target {
    Hub(HubTarget),
    Folder(Folder),
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let to = match HubTarget::of_url(&args.target) {
        Some(target) => Target::Hub(target?),
        None => Target::Folder(Folder::named(Path::new(&args.target))?),
    };
    let (dataset, snapshot) = target::find(session, &args.snapshot)?;
    let board = shown(session, &dataset, &snapshot)?;
    let files = publish::files(&snapshot, board.as_ref(), &dataset)?;
    let replaced = match &to {
        Target::Folder(folder) => publish::look(&files, folder, &dataset.id)?,
        Target::Hub(_) => Replaced::default(),
    };
    if let Some(id) = &replaced.id {
        let stale = replaced.stale.iter().map(|name| format!(", removes {name}")).collect::<String>();
        session.printer.note(&format!("takes the place of snapshot {id}{stale}"));
    }
    if args.dry_run {
        if matches!(to, Target::Hub(_)) {
            session.printer.note("not looked at: whether the dataset is there, and whether the token may write to it");
        }
        return tell(session, &files, &args.target);
    }
    match &to {
        Target::Folder(folder) => publish::write(&files, folder, &replaced)?,
        Target::Hub(hub) => {
            let manifest = &snapshot.manifest;
            let message = format!("{} {}: snapshot {}", dataset.id, manifest.protocol, manifest.id);
            let (commit, url) = publish::commit(&Environment::of_process(), hub, &files, &message)?;
            let place = url.or(commit).map_or_else(String::new, |place| format!(": {place}"));
            session.printer.note(&format!("committed to {}{place}", hub.repo));
        }
    }
    let rows = rows(&files, &args.target)?;
    text_rows::print(session, ["file", "bytes", "sha256", "to"], &rows)?;
    session.printer.note(&format!("published snapshot {} ({})", snapshot.manifest.id, snapshot.manifest.status));
    Ok(Outcome::Complete)
}

fn rows(files: &[Outgoing], target: &str) -> Result<Vec<[Cell; 4]>> {
    let target = crate::store::redact(target.trim_end_matches('/'));
    files
        .iter()
        .map(|file| {
            let to = format!("{target}/{}", file.name);
            Ok([file.name.as_str().into(), file.bytes.into(), file.content.sha256()?.into(), to.into()])
        })
        .collect()
}

/// What would be written: the files, and for people the card.
fn tell(session: &Session, files: &[Outgoing], target: &str) -> Result<Outcome> {
    text_rows::print(session, ["file", "bytes", "sha256", "to"], &rows(files, target)?)?;
    if let (Format::Table, Some(Outgoing { content: publish::Content::Bytes(card), .. })) =
        (session.printer.format(), files.last())
    {
        session.printer.bytes(b"\n")?;
        session.printer.bytes(card)?;
    }
    session.printer.note("nothing was written (--dry-run)");
    Ok(Outcome::Complete)
}

/// The table that `show` shows, as Markdown.
fn shown(session: &Session, dataset: &Dataset, snapshot: &Snapshot) -> Result<Option<Board>> {
    let pipelines = Pipeline::of_dataset(&session.assets, &dataset.id)?;
    let shows: Vec<String> = pipelines.into_iter().flat_map(|pipeline| pipeline.show).collect();
    let Some(table) = snapshot.shown(&shows) else { return Ok(None) };
    // A board is worth its whole length; of other tables the beginning shows what there is.
    let shown = if table == "leaderboard" { SHOWN } else { SHOWN_OF_OTHERS };
    let rows = snapshot.rows(table, shown)?;
    let (schema, total) = (rows.schema.clone(), rows.total);
    let batches = rows.collect::<Result<Vec<_>>>()?;
    let (schema, batches) = board::with_standings(session, snapshot, table, schema, batches)?;
    let mut markdown = Vec::new();
    let options = TableOptions { markdown: true, hide_empty: true, width: None };
    write_batches(&mut markdown, Format::Markdown, &schema, &batches, options)?;
    let markdown = String::from_utf8_lossy(&markdown).into_owned();
    Ok(Some(Board { table: table.clone(), markdown, rows: (total, total.min(shown)) }))
}
