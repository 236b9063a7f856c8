//! Two replies about one image and pillar: which one counts. Every reply stays in `responses`; those that do not count
//! are listed in `set_aside`.

use std::cmp::Reverse;
use std::collections::HashSet;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;

use super::Lake;
use super::load::{Control, IngestRequest, OnError};
use super::manifest::{Manifest, Part};
use super::segment::write_part;
use super::session::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::{Notes, TableBuilder};
use crate::schema::TableSchema;
use crate::source::hex;
use sha2::{Digest, Sha256};

const KEY: &str = "model, model_revision, judge, lang, prompt_id, pillar";

/// A reply among others with its key.
#[derive(Debug, Clone)]
struct Reply {
    /// model, model_revision, judge, lang, pillar
    names: [String; 5],
    prompt_id: i64,
    source: String,
    line: i64,
    sha256: Option<String>,
    /// 2 if both readings can read it, 1 or 0 if one or none, -1 if there is no text.
    readable: i32,
}

/// Checks metadata for contradictions and settles duplicate replies into the manifest's `set_aside`.
pub(super) fn settle(
    lake: &Lake,
    request: &IngestRequest<'_>,
    control: &Control<'_>,
    manifest: &mut Manifest,
    new_keys: &HashSet<String>,
) -> Result<()> {
    manifest.set_aside = Notes::new();
    manifest.set_aside_part = None;
    let schemas = TableSchema::load_all(request.assets, &manifest.dataset)?;
    let engine = Engine::new(request.assets, control.engine, "parts")?;
    engine.register_parts(lake, manifest, &schemas, "parts")?;
    refuse_conflicting_metadata(&engine, manifest)?;
    let replies = repeated(&engine)?;
    let mut aside: Vec<(Reply, &'static str)> = Vec::new();
    for group in replies.chunk_by(|a, b| a.names == b.names && a.prompt_id == b.prompt_id) {
        settle_group(group, request, manifest, new_keys, &mut aside)?;
    }
    if aside.is_empty() {
        return Ok(());
    }
    let schema = schemas.iter().find(|schema| schema.table == "set_aside").ok_or_else(|| {
        Error::new(ErrorKind::Config, "the dataset has no schema `set_aside`").with("dataset", &manifest.dataset)
    })?;
    let mut table = TableBuilder::new(schema);
    let mut digest = Sha256::new();
    for (reply, reason) in &aside {
        *manifest.set_aside.entry((*reason).to_owned()).or_default() += 1;
        digest.update(format!("{reply:?}{reason}"));
        let [model, revision, judge, lang, pillar] = &reply.names;
        table.text(Some(model))?.text(Some(revision))?.text(Some(judge))?.text(Some(lang))?;
        table.int(Some(reply.prompt_id))?.text(Some(pillar))?;
        table.text(Some(&reply.source))?.int(Some(reply.line))?.text(Some(reason))?;
    }
    let dir = lake.table_dir(&manifest.dataset, "set_aside");
    std::fs::create_dir_all(&dir).map_err(|e| Error::io(&dir, "make the folder", e))?;
    let file = format!("{}.parquet", hex(&digest.finalize()[..8]));
    let rows = write_part(&dir.join(&file), schema, &table.finish()?)?;
    manifest.set_aside_part = Some(Part { file, rows });
    Ok(())
}

fn refuse_conflicting_metadata(engine: &Engine, manifest: &Manifest) -> Result<()> {
    let conflicts = engine.query(
        "SELECT p.prompt_id, p.source, p.source_line FROM parts.prompts p
         JOIN (SELECT prompt_id FROM parts.prompts GROUP BY prompt_id
               HAVING min(facets_digest) <> max(facets_digest)) c ON p.prompt_id = c.prompt_id
         WHERE p.facets_digest IS NOT NULL
         ORDER BY p.prompt_id, p.source, p.source_line LIMIT 2",
    )?;
    let places: Vec<(i64, String)> = conflicts
        .iter()
        .flat_map(|batch| {
            (0..batch.num_rows()).map(|row| {
                let line = int(batch, 2, row);
                (int(batch, 0, row), place(manifest, &text(batch, 1, row), line))
            })
        })
        .collect();
    let [(id, first), (_, second)] = places.as_slice() else { return Ok(()) };
    Err(Error::new(ErrorKind::Conflict, format!("prompt {id} has different facets (dims_en) in two places"))
        .with("prompt_id", id)
        .with("first", first)
        .with("second", second)
        .hint("nothing was published; keep the right one of the two"))
}

/// Replies whose key occurs more than once, group by group.
fn repeated(engine: &Engine) -> Result<Vec<Reply>> {
    let keys = format!("SELECT {KEY} FROM parts.responses GROUP BY {KEY} HAVING count(*) > 1");
    let batches = engine.query(&keys)?;
    if batches.iter().all(|batch| batch.num_rows() == 0) {
        return Ok(Vec::new());
    }
    let batches = engine.query(&format!(
        "SELECT r.model, r.model_revision, r.judge, r.lang, r.pillar, r.prompt_id, r.source, r.source_line, r.text_sha256,
                r.outcome, r.outcome_official
         FROM parts.responses r JOIN ({keys}) d
           ON r.model = d.model AND r.model_revision = d.model_revision AND r.judge = d.judge AND r.lang = d.lang
          AND r.prompt_id = d.prompt_id AND r.pillar = d.pillar
         ORDER BY r.model, r.model_revision, r.judge, r.lang, r.prompt_id, r.pillar, r.source, r.source_line"
    ))?;
    let mut replies = Vec::new();
    for batch in &batches {
        for row in 0..batch.num_rows() {
            let outcomes = [text(batch, 9, row), text(batch, 10, row)];
            let readable = outcomes.iter().filter(|outcome| *outcome == "ok").count() as i32;
            replies.push(Reply {
                names: [0, 1, 2, 3, 4].map(|column| text(batch, column, row)),
                prompt_id: int(batch, 5, row),
                source: text(batch, 6, row),
                line: int(batch, 7, row),
                sha256: (!batch.column(8).is_null(row)).then(|| text(batch, 8, row)),
                readable: if outcomes.iter().all(|outcome| outcome == "missing") { -1 } else { readable },
            });
        }
    }
    Ok(replies)
}

fn settle_group(
    group: &[Reply],
    request: &IngestRequest<'_>,
    manifest: &Manifest,
    new_keys: &HashSet<String>,
    aside: &mut Vec<(Reply, &'static str)>,
) -> Result<()> {
    let source = |reply: &Reply| manifest.sources.iter().find(|source| source.key == reply.source);
    let superseding =
        group.iter().filter_map(source).filter(|source| source.supersedes).map(|source| source.sequence).max();
    let mut candidates: Vec<&Reply> = Vec::new();
    for reply in group {
        match superseding {
            Some(newest) if source(reply).is_some_and(|source| source.sequence < newest) => {
                aside.push((reply.clone(), "superseded"))
            }
            _ => candidates.push(reply),
        }
    }
    // The winner first: most readable, then the greatest digest, then the first place, which only equal texts get to.
    candidates.sort_by_key(|reply| {
        (Reverse(reply.readable), Reverse(reply.sha256.clone()), reply.source.clone(), reply.line)
    });
    let Some((winner, losers)) = candidates.split_first() else { return Ok(()) };
    for loser in losers {
        let reason = if loser.sha256 == winner.sha256 || loser.readable == -1 && winner.readable == -1 {
            "same_text"
        } else if loser.readable < winner.readable {
            "less_readable"
        } else {
            let is_new = [*winner, *loser].iter().any(|reply| new_keys.contains(&reply.source));
            if request.on_error == OnError::Fail && is_new {
                return Err(conflict(winner, loser, manifest));
            }
            "different_text"
        };
        aside.push(((*loser).clone(), reason));
    }
    Ok(())
}

fn conflict(a: &Reply, b: &Reply, manifest: &Manifest) -> Error {
    let [model, _, _, lang, pillar] = &a.names;
    Error::new(ErrorKind::Conflict, "two different replies about one image and pillar")
        .with("model", model)
        .with("lang", lang)
        .with("prompt_id", a.prompt_id)
        .with("pillar", pillar)
        .with("first", place(manifest, &a.source, a.line))
        .with("second", place(manifest, &b.source, b.line))
        .hint("nothing was published; --supersede lets the new file win, --on-error reject keeps the greatest SHA-256 and counts it")
}

fn place(manifest: &Manifest, source: &str, line: i64) -> String {
    match manifest.sources.iter().find(|entry| entry.key == source) {
        Some(entry) => format!("{}:{line}", entry.uri),
        None => format!("source {source}:{line}"),
    }
}

fn text(batch: &RecordBatch, column: usize, row: usize) -> String {
    batch.column(column).as_string_view().value(row).to_owned()
}

fn int(batch: &RecordBatch, column: usize, row: usize) -> i64 {
    batch.column(column).as_primitive::<Int64Type>().value(row)
}
