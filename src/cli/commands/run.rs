//! `scorelake run`: the stages as consecutive calls.

use super::ingest::IngestOptions;
use super::score::ScoreOptions;
use super::{ingest, recorded, score, show, to_json};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::Result;
use crate::lake::manifest::Manifest;
use crate::lake::{self, Lake};
use crate::report::Format;
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
    let plan = args.score.plan(session, &dataset.id, [])?;
    let lake = Lake::create(&session.globals.lake)?;
    recorded(session, &lake, |record| {
        let summary = ingest::ingest(session, &lake, &dataset, &args.ingest)?;
        record.set("ingest", to_json(&summary))?;
        let _reading = lake.reading(&dataset.id)?;
        let mut manifest = Manifest::load(&lake, &dataset.id)?;
        let others = manifest.sources.iter().filter(|source| !summary.keys.contains(&source.key)).count();
        if args.only_inputs && others > 0 {
            manifest = lake::restricted(&lake, &session.assets, session.engine(), &manifest, &summary.keys)?;
        } else if others > 0 {
            let sources = if others == 1 { "1 more source".to_owned() } else { format!("{others} more sources") };
            session
                .printer
                .note(&format!("scoring the whole lake: {sources} than given (--only-inputs leaves them out)"));
        }
        let whole_lake = !args.only_inputs || others == 0;
        let (published, scored) = score::score(session, &lake, &manifest, &plan, whole_lake, record)?;
        if let Some(table) = published.snapshot.shown(&plan.show) {
            // A board is worth its whole length; of other tables the beginning shows what there is.
            let is_for_people = matches!(session.printer.format(), Format::Table | Format::Markdown);
            let limit = (is_for_people && table != "leaderboard").then_some(30);
            show::table(session, &published.snapshot, table, limit)?;
        }
        show::ledger_summary(session, &published.snapshot);
        score::tell_next(session, &plan, &published);
        Ok(ingest::outcome(&summary).and(scored))
    })
}
