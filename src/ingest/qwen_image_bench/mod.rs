//! Qwen-Image-Bench: wide lines of judge responses, and the prompts' metadata.

pub mod cell;
mod line;
pub mod metadata;
mod official;
pub mod reply;
mod strict;

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use self::line::{Raw, Record};
use self::reply::Reply;
use super::{Notes, Reader, Reject, SegmentTables, SourceOptions, TableBuilder};
use crate::assets::Assets;
use crate::error::Result;
use crate::python::json::RawString;
use crate::schema::TableSchema;
use crate::schema::taxonomy::Rubric;
use crate::source::{Segment, hex};

/// The dataset's id.
pub const DATASET: &str = "qwen-image-bench";

const REJECT_TEXT: usize = 64 << 10;

/// The reader.
pub struct QwenImageBench {
    rubric: Rubric,
    prompts: TableSchema,
    prompt_facets: TableSchema,
    responses: TableSchema,
    judgments: TableSchema,
}

/// A reply taken out of its line, ready to be read.
struct Pending<'a> {
    model: Cow<'a, str>,
    lang: &'static str,
    prompt_id: i64,
    pillar: usize,
    line: u64,
    text: Option<Cow<'a, str>>,
    sha256: Option<String>,
    image: Option<Cow<'a, str>>,
}

impl QwenImageBench {
    /// A reader with the rubric and schemas of these assets.
    pub fn new(assets: &Assets) -> Result<Self> {
        let table = |name| TableSchema::load(assets, DATASET, name);
        Ok(Self {
            rubric: Rubric::load(assets, DATASET)?,
            prompts: table("prompts")?,
            prompt_facets: table("prompt_facets")?,
            responses: table("responses")?,
            judgments: table("judgments")?,
        })
    }

    fn pending<'a>(&self, record: &Record<'a>, line: u64, notes: &mut Notes) -> Result<Vec<Pending<'a>>, String> {
        let mut pending = Vec::with_capacity(record.replies.len());
        for reply in &record.replies {
            let text = text_of(reply.value, notes)?;
            pending.push(Pending {
                model: reply.model.clone(),
                lang: reply.lang,
                prompt_id: record.prompt_id,
                pillar: reply.pillar,
                line,
                sha256: text.as_ref().map(|text| hex(&Sha256::digest(text.as_bytes()))),
                text,
                image: reply.image.map_or(Ok(None), |image| text_of(image, notes))?,
            });
        }
        Ok(pending)
    }
}

/// The text of a value; JSON that is no string stands for itself, so that the readings can say what is wrong with it.
fn text_of<'a>(raw: Raw<'a>, notes: &mut Notes) -> Result<Option<Cow<'a, str>>, String> {
    match raw {
        Raw::Null => Ok(None),
        Raw::Text(raw) => line::unescape(raw, notes).map(Some),
        Raw::Other(json) => {
            notes.add("values that are JSON where a text is due, read as text", 1);
            line::unescape(RawString { text: json, escaped: false }, notes).map(Some)
        }
    }
}

impl Reader for QwenImageBench {
    fn dataset(&self) -> &'static str {
        DATASET
    }

    fn identity(&self) -> String {
        format!("1 rubric {}", self.rubric.digest)
    }

    fn conclude(&self, notes: &mut Notes) {
        line::conclude(notes);
    }

    fn read(&self, segment: &Segment, source: &str, options: &SourceOptions) -> Result<SegmentTables> {
        let mut out = SegmentTables::default();
        let mut prompts = TableBuilder::new(&self.prompts);
        let mut facets = TableBuilder::new(&self.prompt_facets);
        let mut pending = Vec::new();
        let mut records: Vec<(u64, Record<'_>)> = Vec::new();
        let lines = segment.lines();
        for line in &lines {
            out.records += 1;
            let read = std::str::from_utf8(line.bytes)
                .map_err(|e| format!("not UTF-8 at byte {} of the line", e.valid_up_to() + 1))
                .and_then(|text| {
                    let record = line::parse(text, &self.rubric, &mut out.notes)?;
                    let replies = self.pending(&record, line.number, &mut out.notes)?;
                    Ok((record, replies))
                });
            match read {
                Ok((record, replies)) => {
                    pending.extend(replies);
                    records.push((line.number, record));
                }
                Err(reason) => {
                    let text = String::from_utf8_lossy(&line.bytes[..line.bytes.len().min(REJECT_TEXT)]).into_owned();
                    out.rejects.push(Reject { line: line.number, reason, text });
                }
            }
        }
        records.sort_by_key(|(line, record)| (record.prompt_id, *line));
        for (line, record) in &records {
            self.prompt_rows(record, *line, source, &mut prompts, &mut facets, &mut out.notes)?;
        }
        pending.sort_by(|a, b| {
            let key = |reply: &Pending<'_>| (reply.prompt_id, reply.line);
            (&a.model, a.lang, a.prompt_id)
                .cmp(&(&b.model, b.lang, b.prompt_id))
                .then_with(|| self.rubric.pillars[a.pillar].name.cmp(&self.rubric.pillars[b.pillar].name))
                .then_with(|| key(a).cmp(&key(b)))
        });
        let (responses, judgments) = self.reply_rows(&pending, source, options)?;
        out.tables = vec![
            ("prompts", prompts.finish()?),
            ("prompt_facets", facets.finish()?),
            ("responses", responses),
            ("judgments", judgments),
        ];
        Ok(out)
    }
}

impl QwenImageBench {
    fn prompt_rows(
        &self,
        record: &Record<'_>,
        line: u64,
        source: &str,
        prompts: &mut TableBuilder<'_>,
        rows: &mut TableBuilder<'_>,
        notes: &mut Notes,
    ) -> Result<()> {
        let facets = record.dims_en.as_deref().map(|dims| metadata::facets(dims, &self.rubric, notes));
        let chars = |text: &Option<String>| text.as_ref().map(|text| text.chars().count() as i64);
        prompts
            .int(Some(record.prompt_id))?
            .text(record.prompt_cn.as_deref())?
            .text(record.prompt_en.as_deref())?
            .int(chars(&record.prompt_cn))?
            .int(chars(&record.prompt_en))?
            .bool(facets.is_some())?
            .text(facets.as_ref().map(metadata::digest).as_deref())?
            .text(Some(source))?
            .int(Some(line as i64))?;
        for ((pillar, capability, facet), place) in facets.iter().flatten() {
            rows.int(Some(record.prompt_id))?
                .int(Some(place.position))?
                .text(Some(pillar))?
                .text(Some(capability))?
                .text(Some(facet))?
                .bool(place.in_rubric)?
                .text(Some(source))?
                .int(Some(line as i64))?;
        }
        Ok(())
    }

    fn reply_rows(
        &self,
        pending: &[Pending<'_>],
        source: &str,
        options: &SourceOptions,
    ) -> Result<(arrow::array::RecordBatch, arrow::array::RecordBatch)> {
        let mut responses = TableBuilder::new(&self.responses);
        let mut judgments = TableBuilder::new(&self.judgments);
        for reply in pending {
            let pillar = &self.rubric.pillars[reply.pillar];
            let read = reply::read(reply.text.as_deref(), pillar);
            key_cells(&mut responses, reply, options, &pillar.name)?
                .text(reply.text.as_deref().filter(|_| options.keep_text))?
                .text(reply.sha256.as_deref())?
                .text(reply.image.as_deref())?
                .text(Some(read.strict.outcome.name()))?
                .text(read.strict.reason)?
                .text(Some(&read.strict.repairs.join(",")))?
                .text(Some(read.official.outcome.name()))?
                .text(read.official.reason)?
                .text(Some(&read.official.repairs.join(",")))?
                .text(Some(source))?
                .int(Some(reply.line as i64))?;
            entry_rows(&mut judgments, &read, reply, source, options, &pillar.name)?;
        }
        Ok((responses.finish()?, judgments.finish()?))
    }
}

fn key_cells<'t, 's>(
    table: &'t mut TableBuilder<'s>,
    reply: &Pending<'_>,
    options: &SourceOptions,
    pillar: &str,
) -> Result<&'t mut TableBuilder<'s>> {
    table
        .text(Some(&reply.model))?
        .text(Some(&options.model_revision))?
        .text(Some(&options.judge))?
        .text(Some(reply.lang))?
        .int(Some(reply.prompt_id))?
        .text(Some(pillar))
}

fn entry_rows(
    table: &mut TableBuilder<'_>,
    read: &Reply<'_>,
    reply: &Pending<'_>,
    source: &str,
    options: &SourceOptions,
    pillar: &str,
) -> Result<()> {
    for entry in &read.entries {
        key_cells(table, reply, options, pillar)?
            .text(Some(&entry.capability_read))?
            .text(Some(&entry.facet_read))?
            .text(Some(entry.raw))?
            .bool(entry.in_rubric)?;
        for side in [&entry.strict, &entry.official] {
            let judged = side.as_ref().and_then(|side| side.judged);
            table
                .text(side.as_ref().map(|side| side.capability.as_ref()))?
                .text(side.as_ref().map(|side| side.facet.as_ref()))?
                .text(judged.map(|(state, _)| state.name()))?
                .int(judged.and_then(|(_, value)| value).map(i64::from))?;
        }
        table.text(Some(source))?.int(Some(reply.line as i64))?;
    }
    Ok(())
}
