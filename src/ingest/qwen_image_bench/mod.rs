//! Qwen-Image-Bench: wide lines of judge responses, judged files of one model, and the prompts' metadata.

pub mod cell;
mod judged;
pub mod metadata;
mod official;
pub mod reply;
mod strict;
mod wide;

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use self::reply::Reply;
use super::{Classified, Form, Notes, Reader, Reject, SegmentTables, SourceOptions, TableBuilder};
use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::members::{self, Raw};
use crate::schema::TableSchema;
use crate::schema::taxonomy::Rubric;
use crate::source::{Content, Location, Segment, hex};

/// The dataset's id.
pub const DATASET: &str = "qwen-image-bench";

const REJECT_TEXT: usize = 64 << 10;
/// Entries that a reply has on average: a pillar has 4 to 20 facets.
const USUAL_ENTRIES: usize = 12;

/// The reader.
pub struct QwenImageBench {
    rubric: Rubric,
    prompts: TableSchema,
    prompt_facets: TableSchema,
    responses: TableSchema,
    judgments: TableSchema,
}

/// A record taken apart.
#[derive(Debug)]
struct Record<'a> {
    prompt_id: i64,
    prompt_cn: Option<String>,
    prompt_en: Option<String>,
    dims_en: Option<String>,
    replies: Vec<RecordReply<'a>>,
}

/// One reply of a record.
#[derive(Debug)]
struct RecordReply<'a> {
    model: Cow<'a, str>,
    lang: &'static str,
    pillar: usize,
    text: ReplyText<'a>,
    image: Option<Raw<'a>>,
}

/// The text of a reply, still escaped or not.
#[derive(Debug)]
enum ReplyText<'a> {
    Raw(Raw<'a>),
    Read(Option<Cow<'a, str>>),
}

impl ReplyText<'_> {
    /// Its bytes, or more: escapes take more than what they stand for.
    fn len(&self) -> usize {
        match self {
            Self::Raw(Raw::Text(raw)) => raw.text.len(),
            Self::Raw(Raw::Other(text)) => text.len(),
            Self::Raw(Raw::Null) => 0,
            Self::Read(text) => text.as_ref().map_or(0, |text| text.len()),
        }
    }
}

/// A reply taken out of its record, ready to be read.
struct Pending<'a> {
    model: Cow<'a, str>,
    lang: &'static str,
    prompt_id: i64,
    pillar: usize,
    line: u64,
    text: ReplyText<'a>,
    image: Option<Raw<'a>>,
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

    fn record<'a>(&self, content: Content<'a>, file: &Classified, notes: &mut Notes) -> Result<Record<'a>, String> {
        let members = members::members(content, notes)?;
        let found = self.form_of(&members);
        match (file.form, found) {
            (Form::Judged, Form::Judged) => judged::record(members, &self.rubric, &file.options, notes),
            // The judge said nothing of an image, or the line is about a prompt alone.
            (Form::Judged, Form::Metadata) if !members.contains_key("dims_en") || judged::names_image(&members) => {
                judged::record(members, &self.rubric, &file.options, notes)
            }
            (Form::Judged, Form::Wide) => {
                Err("replies about models it names, in a file that began as a judged file".into())
            }
            (_, Form::Judged) => {
                Err("a record of a judged file, in a file that began with replies about models it names".into())
            }
            _ => wide::record(&members, &self.rubric, notes),
        }
    }

    fn form_of(&self, members: &members::Members<'_>) -> Form {
        if judged::is_judged(members, &self.rubric) {
            Form::Judged
        } else if wide::has_replies(members, &self.rubric) {
            Form::Wide
        } else {
            Form::Metadata
        }
    }
}

/// The replies of a record, its key with each.
fn pending<'a>(record: &mut Record<'a>, line: u64) -> impl Iterator<Item = Pending<'a>> {
    let prompt_id = record.prompt_id;
    std::mem::take(&mut record.replies).into_iter().map(move |RecordReply { model, lang, pillar, text, image }| {
        Pending { model, lang, prompt_id, pillar, line, text, image }
    })
}

impl Reader for QwenImageBench {
    fn dataset(&self) -> &'static str {
        DATASET
    }

    fn identity(&self) -> String {
        format!("2 rubric {}", self.rubric.digest)
    }

    fn form(&self, segment: &Segment) -> Option<Form> {
        let mut notes = Notes::default();
        let mut found = None;
        for record in segment.records() {
            // What is wrong with a record is told where it is read.
            let Ok(members) = members::members(record.content, &mut notes) else { continue };
            match self.form_of(&members) {
                // A record of neither kind tells nothing: it is refused, with its keys, where it is read.
                Form::Metadata if !members.contains_key("dims_en") => {}
                Form::Metadata => found = Some(Form::Metadata),
                form => return Some(form),
            }
        }
        found
    }

    fn setting_is_about(&self, setting: &str) -> Option<&'static str> {
        match setting {
            "--model" => Some("a judged file of one model"),
            "--judge" | "--model-revision" | "--no-raw" | "--provenance" => Some("a file of replies"),
            _ => None,
        }
    }

    fn classify(&self, form: Form, _location: &Location, options: &SourceOptions) -> Result<Classified> {
        // With --model, what is said of models, judge and provenance is about that model's file alone.
        let is_about_one = !options.model.is_empty();
        match form {
            Form::Judged if !is_about_one => {
                Err(Error::new(ErrorKind::Usage, "a judged file does not say which model made its images")
                    .hint("name the model: --model NAME, and --lang en if the images are from English prompts"))
            }
            Form::Judged => Ok(Classified { form, options: options.clone(), takes_provenance: true }),
            Form::Wide if is_about_one => {
                let options = SourceOptions { keep_text: options.keep_text, ..SourceOptions::default() };
                Ok(Classified { form, options, takes_provenance: false })
            }
            Form::Wide => Ok(Classified { form, options: options.clone(), takes_provenance: true }),
            _ => Ok(Classified { form, options: SourceOptions::default(), takes_provenance: false }),
        }
    }

    fn conclude(&self, notes: &mut Notes) {
        wide::conclude(notes);
    }

    fn read(&self, segment: &Segment, source: &str, file: &Classified) -> Result<SegmentTables> {
        let mut out = SegmentTables::default();
        let mut prompts = TableBuilder::new(&self.prompts);
        let mut facets = TableBuilder::new(&self.prompt_facets);
        let mut pending = Vec::new();
        let mut records: Vec<(u64, Record<'_>)> = Vec::new();
        for found in segment.records() {
            out.records += 1;
            match self.record(found.content, file, &mut out.notes) {
                Ok(mut record) => {
                    pending.extend(self::pending(&mut record, found.number));
                    records.push((found.number, record));
                }
                Err(reason) => {
                    out.rejects.push(Reject { line: found.number, reason, text: found.excerpt(REJECT_TEXT) });
                }
            }
        }
        out.ids = records.iter().map(|(_, record)| record.prompt_id).collect();
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
        let (responses, judgments) = self.reply_rows(&pending, source, &file.options, &mut out.notes)?;
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
        notes: &mut Notes,
    ) -> Result<(arrow::array::RecordBatch, arrow::array::RecordBatch)> {
        let mut responses = TableBuilder::new(&self.responses);
        let mut judgments = TableBuilder::new(&self.judgments);
        let bytes = if options.keep_text { pending.iter().map(|reply| reply.text.len()).sum() } else { 0 };
        responses.reserve(pending.len(), Some(("text", bytes)));
        judgments.reserve(pending.len() * USUAL_ENTRIES, None);
        // One reply is unescaped at a time: it is read, hashed and copied while it is in the processor's cache.
        let (mut text, mut image) = (String::new(), String::new());
        for reply in pending {
            let pillar = &self.rubric.pillars[reply.pillar];
            let text = match &reply.text {
                ReplyText::Raw(raw) => raw.resolved(&mut text, notes)?,
                ReplyText::Read(text) => text.as_deref(),
            };
            let image = reply.image.map_or(Ok(None), |raw| raw.resolved(&mut image, notes))?;
            let read = reply::read(text, pillar);
            key_cells(&mut responses, reply, options, &pillar.name)?
                .text(text.filter(|_| options.keep_text))?
                .text(text.map(|text| hex(&Sha256::digest(text.as_bytes()))).as_deref())?
                .text(image)?
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
