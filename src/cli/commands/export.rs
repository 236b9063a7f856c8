//! `scorelake export`

use std::path::PathBuf;

use super::target;
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::{Choices, Pipeline, Plan};
use crate::report::export::{self, Exported, Target};
use crate::schema::taxonomy::Rubric;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Dataset id, with @ID for a snapshot (an id, a prefix of one, or a protocol).
    #[arg(value_name = "DATASET[@ID]")]
    target: String,
    #[command(flatten)]
    to: To,
    /// With --csv: put an apostrophe before texts that a spreadsheet would take for formulas.
    #[arg(long, requires = "csv")]
    for_spreadsheets: bool,
    /// Replace files that are there.
    #[arg(long)]
    force: bool,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
struct To {
    /// A workbook with a sheet for every table.
    #[arg(value_parser = super::parse_local, long, value_name = "FILE")]
    xlsx: Option<PathBuf>,
    /// One JSON document with every table.
    #[arg(value_parser = super::parse_local, long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// A folder with a CSV file for every table.
    #[arg(value_parser = super::parse_local, long, value_name = "DIR")]
    csv: Option<PathBuf>,
    /// A folder with the files of Qwen-Image-Bench's own scoring script.
    #[arg(value_parser = super::parse_local, long, value_name = "DIR")]
    official: Option<PathBuf>,
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let (dataset, snapshot) = target::find(session, &args.target)?;
    let paths = [&args.to.xlsx, &args.to.json].map(Option::as_ref);
    if let [Some(first), Some(second)] = paths
        && first == second
    {
        return Err(Error::new(ErrorKind::Usage, "--xlsx and --json name one file").with("file", first.display()));
    }
    let tell = |exported: Exported| {
        exported.files.iter().for_each(|file| session.printer.note(&format!("wrote {}", file.display())));
        exported.notes.iter().for_each(|note| session.printer.warn(note));
    };
    let to = |path| Target { path, replace: args.force };
    if let Some(path) = &args.to.xlsx {
        tell(export::xlsx(&snapshot, to(path))?);
    }
    if let Some(path) = &args.to.json {
        tell(export::json(&snapshot, to(path))?);
    }
    if let Some(path) = &args.to.csv {
        tell(export::csv(&snapshot, to(path), args.for_spreadsheets)?);
    }
    if let Some(path) = &args.to.official {
        if dataset.id != export::OFFICIAL_OF {
            return Err(Error::new(
                ErrorKind::Usage,
                format!("--official writes the files of the {} script; {} has none", export::OFFICIAL_OF, dataset.id),
            )
            .hint("--xlsx, --json or --csv write every table"));
        }
        let rubric = Rubric::load(&session.assets, &dataset.id)?;
        let pipeline = Pipeline::load(&session.assets, &dataset.id)?;
        // The queries that the snapshot had: without intervals there are fewer.
        let intervals = snapshot.manifest.intervals.is_none().then(|| "none".to_owned());
        let plan = Plan::new(&session.assets, &pipeline, &Choices { intervals, ..Choices::default() })?;
        tell(export::official(&snapshot, &plan, &rubric, to(path))?);
    }
    session.printer.detail(&format!("snapshot {}", snapshot.manifest.id));
    Ok(Outcome::Complete)
}
