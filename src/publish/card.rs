//! The card of a published snapshot: the board, how it was made, from what, and how to hold it against its digests.

use std::fmt::Write;

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::schema::dataset::Dataset;
use crate::snapshot::{Input, SnapshotManifest};

/// A table for the card, as Markdown.
#[derive(Debug, Clone)]
pub struct Board {
    /// The table's name.
    pub table: String,
    /// Its first rows.
    pub markdown: String,
    /// Rows in all, and those shown.
    pub rows: (usize, usize),
}

/// `README.md` with the front matter by which the hub's viewer finds the tables. Nothing in it is of this hour or this machine.
pub fn card(manifest: &SnapshotManifest, board: Option<&Board>, dataset: &Dataset) -> Result<String> {
    let mut out = String::new();
    let written = front_matter(&mut out, manifest, board).and_then(|()| body(&mut out, manifest, board, dataset));
    written.map_err(|e| Error::new(ErrorKind::Check, format!("the card cannot be written: {e}")).caused_by(e))?;
    Ok(out)
}

fn front_matter(out: &mut String, manifest: &SnapshotManifest, board: Option<&Board>) -> std::fmt::Result {
    let quoted = |text: &str| Value::from(text).to_string();
    writeln!(out, "---\npretty_name: {}", quoted(&format!("{}, {} protocol", manifest.dataset, manifest.protocol)))?;
    writeln!(out, "tags:\n- text-to-image\n- evaluation\n- scorelake\nconfigs:")?;
    let shown = board.map(|board| board.table.as_str());
    let mut tables: Vec<_> = manifest.tables.iter().collect();
    tables.sort_by_key(|table| (Some(table.name.as_str()) != shown, table.name.clone()));
    for table in tables {
        writeln!(out, "- config_name: {}", quoted(&table.name))?;
        if Some(table.name.as_str()) == shown {
            writeln!(out, "  default: true")?;
        }
        writeln!(out, "  data_files: {}", quoted(&table.file))?;
    }
    writeln!(out, "---\n")
}

fn body(out: &mut String, manifest: &SnapshotManifest, board: Option<&Board>, dataset: &Dataset) -> std::fmt::Result {
    writeln!(out, "# {}, {} protocol\n", manifest.dataset, manifest.protocol)?;
    writeln!(out, "Snapshot `{}` of results on {} ({}).", manifest.id, manifest.dataset, dataset.source)?;
    writeln!(out, "What of it was scored, Provenance says.\n")?;
    if manifest.status != "complete" {
        writeln!(out, "**Partial**: not everything that was given could be scored; see Provenance and Cells.\n")?;
    }
    if let Some(Board { table, markdown, rows: (total, shown) }) = board {
        writeln!(out, "## Results\n\n{}", markdown.trim_end())?;
        let rest = if shown < total { format!(" ({shown} of its {total} rows)") } else { String::new() };
        writeln!(
            out,
            "\nThe table `{table}`{rest}; numbers are rounded to two decimals here, the files have them in full."
        )?;
        let columns = format!("scorelake schema {}.{table}", dataset.sql_schema);
        writeln!(out, "`{columns}` says what each column means.\n")?;
    }
    writeln!(out, "## Method\n")?;
    writeln!(out, "- pipeline {}, metric version {}, {}", manifest.pipeline, manifest.metric_version, manifest.tool)?;
    let parameters: Vec<_> = manifest.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let default = if manifest.is_default { "" } else { " (not all of them, or not the queries, are the default)" };
    writeln!(out, "- parameters: {}{default}", code(&parameters.join(", ")))?;
    writeln!(out, "- SHA-256 of the pipeline: `{}`", manifest.pipeline_sha256)?;
    writeln!(out, "- SHA-256 of each query: in `manifest.json` ({} files)\n", manifest.sql_sha256.len())?;
    writeln!(out, "## Provenance\n")?;
    let mut inputs: Vec<&Input> = manifest.inputs.iter().collect();
    inputs.sort_by_key(|input| (&input.uris, &input.sha256));
    for input in inputs {
        writeln!(out, "- {}", provenance(input))?;
    }
    writeln!(out, "\n## Cells\n")?;
    for row in &manifest.ledger {
        writeln!(out, "- {}", ledger(row))?;
    }
    let mut told = manifest.findings.iter().filter(|finding| finding.is_told).peekable();
    if told.peek().is_some() {
        writeln!(out, "\n## Findings\n")?;
    }
    for finding in told {
        writeln!(out, "- {}", text(&finding.text))?;
    }
    writeln!(
        out,
        "\n## Files\n\n| table | rows | SHA-256 of the file | SHA-256 of the rows |\n| --- | ---: | --- | --- |"
    )?;
    for table in &manifest.tables {
        writeln!(out, "| `{}` | {} | `{}` | `{}` |", table.file, table.rows, table.sha256, table.rows_sha256)?;
    }
    writeln!(out, "\n## Recompute\n\n```sh\n{}\n```\n", recompute(manifest))?;
    writeln!(
        out,
        "The files are those of Provenance, told by their SHA-256 (the ones of the machine that scored are named without its"
    )?;
    writeln!(
        out,
        "folders), each with what is said of it there. The id follows from the rows, the protocol and the parameters alone: the"
    )?;
    writeln!(out, "run ends with `snapshot {}`, on any machine.", manifest.id)
}

/// The command lines that give this snapshot again. A pipeline of another name than the dataset's is scored by that name.
fn recompute(manifest: &SnapshotManifest) -> String {
    let mut options = format!(" --protocol {}", manifest.protocol);
    for (name, value) in manifest.parameters.iter().filter(|_| !manifest.is_default) {
        options += &format!(" --set '{}'", format!("{name}={value}").replace('\'', "'\\''"));
    }
    if manifest.intervals.is_none() {
        options += " --intervals none";
    }
    let (dataset, pipeline) = (&manifest.dataset, &manifest.pipeline);
    if pipeline == dataset {
        return format!("scorelake run {dataset} FILES{options}");
    }
    format!("scorelake ingest {dataset} FILES\nscorelake score {pipeline}{options}")
}

fn provenance(input: &Input) -> String {
    let names: Vec<String> = input.uris.iter().map(|uri| code(uri)).collect();
    let mut said = format!("{}: {} records", names.join(", "), input.records);
    if input.rejected > 0 {
        said += &format!(", {} rejected", input.rejected);
    }
    said += &format!(", {} bytes, SHA-256 `{}`", input.size, input.sha256);
    if let Some(revision) = &input.revision {
        said += &format!(", commit `{revision}`");
    }
    let options = &input.options;
    for (what, value) in
        [("model", &options.model), ("model revision", &options.model_revision), ("judge", &options.judge)]
    {
        if !value.is_empty() {
            said += &format!(", {what} {}", text(value));
        }
    }
    said
}

/// The counts of a row of the ledger, and whose they are.
fn ledger(row: &Value) -> String {
    let Some(row) = row.as_object() else { return String::new() };
    let names = row.values().filter_map(Value::as_str).filter(|name| !name.is_empty() && *name != "all");
    let names: Vec<String> = names.map(text).collect();
    let counts = row.iter().filter_map(|(name, value)| Some(format!("{} {name}", value.as_i64()?)));
    let counts: Vec<String> = counts.collect();
    let whose = if names.is_empty() { "all".to_owned() } else { names.join(" ") };
    format!("{whose}: {}", counts.join(", "))
}

/// Data as it is, on one line.
fn code(data: &str) -> String {
    let line: String = data.chars().map(|c| if c.is_control() || c == '`' { ' ' } else { c }).collect();
    format!("`{line}`")
}

/// Data as text: what Markdown or HTML would take for its own is escaped.
fn text(data: &str) -> String {
    let mut out = String::with_capacity(data.len());
    for c in data.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '*' | '_' | '[' | ']' | '|' | '#' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
