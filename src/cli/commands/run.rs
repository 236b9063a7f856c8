//! `scorelake run`: the stages as consecutive calls.

use super::ingest::IngestOptions;
use super::score::ScoreOptions;
use super::{ingest, recorded, score, show, to_json};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::Result;
use crate::lake::Lake;
use crate::lake::manifest::Manifest;
use crate::schema::dataset::Dataset;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Dataset id (see `scorelake datasets`).
    dataset: String,
    #[command(flatten)]
    ingest: IngestOptions,
    #[command(flatten)]
    score: ScoreOptions,
    /// Score only these inputs, not the whole lake.
    #[arg(long)]
    only_inputs: bool,
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let dataset = Dataset::find(&session.assets, &args.dataset)?;
    let plan = args.score.plan(session, &dataset.id)?;
    let lake = Lake::create(&session.globals.lake)?;
    recorded(session, &lake, |record| {
        let summary = ingest::ingest(session, &lake, &dataset, &args.ingest)?;
        record.set("ingest", to_json(&summary))?;
        let mut manifest = Manifest::load(&lake, &dataset.id)?;
        let given = manifest.sources.iter().filter(|source| summary.keys.contains(&source.key)).count();
        let others = manifest.sources.len() - given;
        if args.only_inputs {
            manifest.sources.retain(|source| summary.keys.contains(&source.key));
        } else if others > 0 {
            session.printer.note(&format!(
                "scoring the whole lake: {others} more sources than given (--only-inputs leaves them out)"
            ));
        }
        let (published, scored) =
            score::score(session, &lake, &manifest, &plan, !args.only_inputs || others == 0, record)?;
        show::table(session, &published.snapshot, "leaderboard", None)?;
        show::ledger_summary(session, &published.snapshot);
        score::tell_next(session, &plan, &published);
        Ok(ingest::outcome(&summary).and(scored))
    })
}
