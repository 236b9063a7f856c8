//! `scorelake snapshot show`: how a snapshot was made, as answers to what a reproducer asks.

use serde_json::Value;

use super::show::ledger_line;
use super::text_rows::{self, Cell};
use super::{target, to_json};
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::Result;
use crate::ingest::Form;
use crate::ingest::provenance::Maker;
use crate::report::Format;
use crate::snapshot::{Input, Snapshot, SnapshotManifest};

const NOT_TOLD: &str = "not told (--provenance FILE.toml at ingest)";

/// Rows of section, what, value; for people a section is named on its first row only.
#[derive(Default)]
struct Account {
    is_for_people: bool,
    rows: Vec<[Cell; 3]>,
    section: String,
}

impl Account {
    fn section(&mut self, name: impl Into<String>) {
        self.section = name.into();
    }

    fn say(&mut self, what: &str, value: impl Into<String>) {
        self.rows.push([self.section.as_str().into(), what.into(), value.into().into()]);
        if self.is_for_people {
            self.section.clear();
        }
    }

    fn say_if(&mut self, what: &str, value: &str) {
        if !value.is_empty() {
            self.say(what, value);
        }
    }
}

pub(super) fn show(session: &Session, target: &str) -> Result<Outcome> {
    let (_, Snapshot { dir, manifest }) = target::find(session, target)?;
    match session.printer.format() {
        Format::Json => {
            session.printer.bytes(format!("{:#}\n", to_json(&manifest)).as_bytes())?;
            return Ok(Outcome::Complete);
        }
        Format::Ndjson => {
            session.printer.bytes(format!("{}\n", to_json(&manifest)).as_bytes())?;
            return Ok(Outcome::Complete);
        }
        _ => {}
    }
    let is_for_people = matches!(session.printer.format(), Format::Table | Format::Markdown);
    let mut account = Account { is_for_people, ..Account::default() };
    account.section("snapshot");
    account.say("id", &manifest.id);
    account.say("dataset", &manifest.dataset);
    account.say("status", &manifest.status);
    account.say("folder", dir.to_string());
    method(&mut account, &manifest);
    for (number, input) in (1..).zip(&manifest.inputs) {
        account.section(format!("input {number}"));
        self::input(&mut account, input);
    }
    account.section("cells");
    for total in &manifest.ledger {
        account.say("ledger", ledger_line(total));
    }
    for finding in manifest.findings.iter().filter(|finding| finding.is_told) {
        account.say("finding", &finding.text);
    }
    account.section("digests");
    for table in &manifest.tables {
        account.say(&format!("table {}", table.name), format!("{} rows, sha256 {}", table.rows, table.rows_sha256));
    }
    account.say("pipeline", &manifest.pipeline_sha256);
    if session.printer.is_verbose() {
        manifest.sql_sha256.iter().for_each(|(path, sha256)| account.say(path, sha256));
    } else {
        account.say("queries", format!("{} files; --verbose lists the digest of each", manifest.sql_sha256.len()));
    }
    text_rows::print(session, ["about", "what", "value"], &account.rows)?;
    Ok(Outcome::Complete)
}

fn method(account: &mut Account, manifest: &SnapshotManifest) {
    account.section("method");
    account.say("pipeline", format!("{}, metric version {}", manifest.pipeline, manifest.metric_version));
    account.say("protocol", &manifest.protocol);
    let default = if manifest.is_default { "" } else { " (not all of them, or not the queries, are the default)" };
    let parameters: Vec<_> = manifest.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    account.say("parameters", parameters.join(" ") + default);
    account.say("made by", &manifest.tool);
}

/// Everything known about one input, and what is not.
fn input(account: &mut Account, input: &Input) {
    input.uris.iter().for_each(|uri| account.say("file", uri));
    account.say_if("commit", input.revision.as_deref().unwrap_or(""));
    account.say("content", format!("{} bytes, sha256 {}", input.size, input.sha256));
    let rejected = if input.rejected > 0 { format!(", {} rejected", input.rejected) } else { String::new() };
    account.say("records", format!("{}{rejected}", input.records));
    if !input.ids.is_empty() {
        account.say("prompt IDs", input.ids.to_string());
    }
    account.say_if("model", &input.options.model);
    account.say_if("model revision", &input.options.model_revision);
    account.say_if("prompt language", &input.options.lang);
    account.say_if("judge", &input.options.judge);
    account.say_if("collection", &input.options.collection);
    account.say_if("split", &input.options.split);
    account.say_if("generator from", &input.options.generator_from);
    account.say_if("direction", &input.options.direction);
    let described = input.provenance.clone().unwrap_or_default();
    // Only replies have a judge to be told of.
    if matches!(input.form, Form::Wide | Form::Judged | Form::Answers) {
        maker(account, "judge", described.judge.as_ref());
        maker(account, "generation", described.generation.as_ref());
        match &described.images {
            Some(images) => {
                account.say(
                    "images",
                    format!("{} images, sha256 of the listing {}", images.sha256.len(), images.digest()),
                );
            }
            None => account.say("images", NOT_TOLD),
        }
        account.say("texts of replies", if input.options.keep_text { "kept" } else { "not kept (--no-raw)" });
    }
    if let Some(prompts) = &described.prompts {
        let parts = [("source", &prompts.source), ("revision", &prompts.revision), ("IDs", &prompts.ids)];
        for (what, value) in parts {
            account.say_if(&format!("prompts' {what}"), value.as_deref().unwrap_or(""));
        }
    }
    account.say_if("note", described.note.as_deref().unwrap_or(""));
    for (note, count) in input.notes.iter() {
        account.say("met", format!("{note}: {count}"));
    }
}

fn maker(account: &mut Account, what: &str, maker: Option<&Maker>) {
    let Some(maker) = maker else {
        account.say(&format!("{what} weights, settings"), NOT_TOLD);
        return;
    };
    let revision = maker.revision.as_ref().map_or(String::new(), |revision| format!(" at {revision}"));
    account.say(&format!("{what} weights"), maker.weights.as_deref().unwrap_or("not told").to_owned() + &revision);
    let settings = maker.settings.iter().map(|(name, value)| match value {
        Value::String(text) => format!("{name} {text}"),
        other => format!("{name} {other}"),
    });
    account.say_if(&format!("{what} settings"), &settings.collect::<Vec<_>>().join(", "));
    account.say_if(&format!("{what} prompt language"), maker.prompt_language.as_deref().unwrap_or(""));
    account.say_if(&format!("{what} software"), maker.software.as_deref().unwrap_or(""));
}
