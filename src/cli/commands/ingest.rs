//! `scorelake ingest`

use std::path::PathBuf;

use clap::ValueEnum;

use super::{Split, fetch, parse_size, recorded, to_json};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::cli::progress::Bar;
use crate::error::Result;
use crate::ingest::{Provenance, SourceOptions, reader};
use crate::lake::{self, Control, IngestRequest, IngestSummary, Lake, OnError};
use crate::schema::dataset::Dataset;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Dataset id (see `scorelake datasets`).
    dataset: String,
    #[command(flatten)]
    pub(super) options: IngestOptions,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct IngestOptions {
    /// Files, directories or globs; .jsonl, .json, .csv or .tsv, plain, .gz or .zst. Or URLs: hf://datasets/OWNER/NAME[@REVISION]/PATH,
    /// https://…, s3://BUCKET/KEY, gs://…, az://… (a key, a prefix or a glob). Or tar archives, ARCHIVE.tar.gz, and members of them,
    /// ARCHIVE.tar!/MEMBER (docs/stores.md).
    #[arg(required = true, value_name = "INPUT")]
    pub(super) inputs: Vec<String>,
    /// What the file is of, where it does not say so itself: the model that made its images, the assessor that predicted, the
    /// run of answers.
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    model: String,
    /// qwen-image-bench: language of the prompts of that file.
    #[arg(long, value_enum, default_value_t = Lang::Cn, requires = "model")]
    lang: Lang,
    /// Revision of that model; without --model, of the models in these files.
    #[arg(long, value_name = "R", default_value = "", hide_default_value = true)]
    model_revision: String,
    /// Judge that wrote the replies in these files; with --model, in that model's file.
    #[arg(long, value_name = "NAME[@REV]", default_value = "", hide_default_value = true)]
    judge: String,
    /// fager: collection that the questions, answers or scores belong to; the folder's name if absent.
    #[arg(long, value_name = "C", default_value = "", hide_default_value = true)]
    collection: String,
    /// magicdata340k: split of the images; told by the file's name if absent.
    #[arg(long, value_enum)]
    split: Option<Split>,
    /// magicdata340k: regular expression whose first group (or whole match) in an image's path is its generator.
    #[arg(long, value_name = "REGEX", default_value = "", hide_default_value = true)]
    generator_from: String,
    /// agiqa-3k, fager: whether higher or lower values are better: `lower` or `higher` for all metrics of these files, or NAME=lower,…
    #[arg(long, value_name = "DIRECTION", value_parser = parse_direction)]
    direction: Option<String>,
    /// How images and replies were made: a TOML file with [judge], [generation], [prompts], [images] and note, kept in the
    /// manifests; with --model, of that model's file.
    #[arg(long, value_name = "FILE.toml")]
    provenance: Option<PathBuf>,
    /// What a record that cannot be read does: end the run with nothing published, or be kept aside and counted.
    #[arg(long, value_enum, default_value_t = OnErrorArg::Fail)]
    on_error: OnErrorArg,
    /// Let these replies replace older ones about the same image and pillar.
    #[arg(long)]
    supersede: bool,
    /// Leave the text of replies out of the lake.
    #[arg(long)]
    no_raw: bool,
    /// Bytes of the longest line or row.
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = parse_size)]
    max_line: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Lang {
    Cn,
    En,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnErrorArg {
    Fail,
    Reject,
}

/// `lower`, `higher`, or `NAME=lower,OTHER=higher`.
fn parse_direction(text: &str) -> Result<String, String> {
    for part in text.split(',') {
        let direction = part.rsplit_once('=').map_or(part, |(_, direction)| direction);
        if !["lower", "higher"].contains(&direction) {
            return Err(format!("`{direction}` is neither `lower` nor `higher`"));
        }
    }
    Ok(text.to_owned())
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let dataset = Dataset::find(&session.assets, &args.dataset)?;
    let lake = Lake::create(&session.globals.lake)?;
    recorded(session, &lake, |record| {
        let summary = ingest(session, &lake, &dataset, &args.options)?;
        record.set("ingest", to_json(&summary))?;
        Ok(outcome(&summary))
    })
}

/// Ingests and tells what happened.
pub(super) fn ingest(
    session: &Session,
    lake: &Lake,
    dataset: &Dataset,
    options: &IngestOptions,
) -> Result<IngestSummary> {
    let reader = reader(&session.assets, &dataset.id)?;
    let inputs = fetch::expand(session, &options.inputs)?;
    for path in &inputs.passed_over {
        session
            .printer
            .detail(&format!("passed over {path}: its extension is none of .jsonl, .ndjson, .json, .csv and .tsv"));
    }
    let request = IngestRequest {
        assets: &session.assets,
        reader: reader.as_ref(),
        inputs,
        options: SourceOptions {
            model: options.model.clone(),
            lang: match (options.model.as_str(), options.lang) {
                ("", _) => String::new(),
                (_, Lang::Cn) => "cn".into(),
                (_, Lang::En) => "en".into(),
            },
            model_revision: options.model_revision.clone(),
            judge: options.judge.clone(),
            collection: options.collection.clone(),
            split: options.split.map_or_else(String::new, |split| split.name().into()),
            generator_from: options.generator_from.clone(),
            direction: options.direction.as_deref().unwrap_or("").to_owned(),
            keep_text: !options.no_raw,
        },
        provenance: options.provenance.as_deref().map(Provenance::load).transpose()?,
        on_error: match options.on_error {
            OnErrorArg::Fail => OnError::Fail,
            OnErrorArg::Reject => OnError::Reject,
        },
        supersede: options.supersede,
        max_line: usize::try_from(options.max_line).unwrap_or(usize::MAX),
    };
    let bar = Bar::bytes(session)?;
    let control = Control { engine: session.engine(), progress: &|progress| bar.update(progress) };
    let summary = lake::ingest(lake, request, &control);
    drop(bar);
    let summary = summary?;
    tell(session, &summary);
    Ok(summary)
}

/// Partial if anything was left out.
pub(super) fn outcome(summary: &IngestSummary) -> Outcome {
    if summary.rejected > 0 || !summary.unreadable.is_empty() { Outcome::Partial } else { Outcome::Complete }
}

fn tell(session: &Session, summary: &IngestSummary) {
    let printer = session.printer;
    for (what, uris) in [
        ("added", &summary.added),
        ("replaced", &summary.replaced),
        ("unchanged", &summary.unchanged),
        ("provenance noted of", &summary.described),
    ] {
        for uri in uris.iter().take(3) {
            printer.note(&format!("{what} {uri}"));
        }
        if uris.len() > 3 {
            printer.note(&format!("{what} {} more", uris.len() - 3));
        }
    }
    for (uri, other) in &summary.also_there {
        printer.warn(&format!("{uri} has the content of {other}, given under other options: both stand on the board"));
    }
    if !summary.rows.is_empty() {
        let rows: Vec<_> = summary.rows.iter().map(|(table, rows)| format!("{table} {rows}")).collect();
        printer.note(&format!("{} records read; rows added: {}", summary.records, rows.join(", ")));
    }
    for (uri, reason) in &summary.unreadable {
        printer.warn(&format!("{uri}: left out, none of its records counts: {reason}"));
    }
    if summary.rejected > 0 {
        printer.warn(&format!("{} records rejected, kept with their reasons in the table `rejects`", summary.rejected));
        for reject in summary.first_rejects.iter().take(5) {
            printer.note(&format!("  {reject}"));
        }
        if summary.first_rejects.len() > 5 {
            printer.note("  …");
        }
    }
    for (reason, count) in summary.set_aside.iter() {
        let records = if *count == 1 { "duplicate record" } else { "duplicate records" };
        printer.note(&format!("{count} {records} set aside in the lake: {reason}"));
    }
    let (ignored, notes): (Vec<_>, Vec<_>) =
        summary.notes.iter().partition(|(note, _)| note.starts_with("key ignored: "));
    if !ignored.is_empty() {
        let names: Vec<_> = ignored.iter().take(8).map(|(note, _)| note.trim_start_matches("key ignored: ")).collect();
        let more = ignored.len().saturating_sub(names.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        printer.note(&format!("keys ignored: {}{more}", names.join(", ")));
    }
    for (note, count) in notes {
        printer.warn(&format!("{note}: {count}"));
    }
}
