//! MagicBench: the 800 prompts, and the files of results of each model.

use sha2::{Digest, Sha256};

use super::artifacts::{LabelSet, Outcome, Reading, Taxonomy, exact};
use super::members::{self, Members, Raw, json_text, keys, note_ignored, shown, text_member};
use super::walk::{excerpt, form_by, walk};
use super::{Classified, Form, Notes, Reader, SegmentTables, SourceOptions, TableBuilder, names};
use crate::assets::Assets;
use crate::error::Result;
use crate::python::json::{self, Value};
use crate::python::strip;
use crate::schema::TableSchema;
use crate::source::{Location, Segment, hex};

/// The dataset's id.
pub const DATASET: &str = "magicbench";

const PROMPT: &str = "prompt_t2i";
/// Keys that only results have.
const RESULT: [&str; 4] = ["response", "gen_images", "has_subject", "subject_detection_response"];
/// Keys that tell this dataset's prompts from those of others.
const OWN: [&str; 2] = ["detail_class", "class"];

/// The reader.
pub struct MagicBench {
    taxonomy: Taxonomy,
    prompts: TableSchema,
    images: TableSchema,
    assessments: TableSchema,
}

/// What a line says.
#[derive(Debug, Default)]
struct Record {
    prompt: String,
    subject: Option<String>,
    class_read: Option<String>,
    detail_class: Option<String>,
    images: Vec<String>,
    has_subject: Option<bool>,
    text: Option<String>,
    reading: Option<Reading>,
    is_unread: bool,
}

impl MagicBench {
    /// A reader with the taxonomy and schemas of these assets.
    pub fn new(assets: &Assets) -> Result<Self> {
        let table = |name| TableSchema::load(assets, DATASET, name);
        Ok(Self {
            taxonomy: Taxonomy::load(assets)?,
            prompts: table("prompts")?,
            images: table("images")?,
            assessments: table("assessments")?,
        })
    }

    fn record(&self, members: &Members<'_>, form: Form, notes: &mut Notes) -> Result<Record, String> {
        let found = form_of(members).ok_or_else(|| {
            format!("no {PROMPT} with a class, and no response: the record has the keys {}", keys(members))
        })?;
        if (form, found) == (Form::Metadata, Form::Answers) {
            return Err("a result, in a file that began with prompts".into());
        }
        let mut text = |name: &str| text_member(members, name, notes);
        let mut record = Record {
            prompt: text(PROMPT)?.filter(|prompt| !strip(prompt).is_empty()).unwrap_or_else(String::new),
            subject: text("subject")?,
            class_read: text("class")?.filter(|class| !class.is_empty()),
            detail_class: text("detail_class")?.filter(|class| !class.is_empty()),
            ..Record::default()
        };
        if form == Form::Metadata {
            return if record.prompt.is_empty() { Err(format!("{PROMPT} is empty")) } else { Ok(record) };
        }
        record.images = images(members, notes)?;
        record.has_subject = has_subject(members, notes);
        let response = members.get("response").map_or(Ok(None), |raw| json_text(*raw, notes))?;
        let response = response.filter(|text| !strip(text).is_empty());
        record.reading = Some(exact::read(response.as_deref(), &self.taxonomy));
        record.text = response.map(std::borrow::Cow::into_owned);
        let is_read = |key: &str| [&[PROMPT, "subject"][..], &RESULT, &OWN].iter().any(|names| names.contains(&key));
        note_ignored(members, is_read, notes);
        Ok(record)
    }

    fn rows(&self, records: &[(u64, Record)], file: &Classified, source: &str) -> Result<SegmentTables> {
        let mut prompts = TableBuilder::new(&self.prompts);
        let mut images = TableBuilder::new(&self.images);
        let mut assessments = TableBuilder::new(&self.assessments);
        let SourceOptions { model, model_revision, judge, keep_text, .. } = &file.options;
        for (line, record) in records {
            let line = Some(*line as i64);
            let class = record.class_read.as_deref().and_then(class_of);
            let Some(reading) = &record.reading else {
                prompts
                    .text(Some(&record.prompt))?
                    .int(Some(record.prompt.chars().count() as i64))?
                    .text(record.subject.as_deref())?
                    .text(class)?
                    .text(record.class_read.as_deref())?
                    .text(record.detail_class.as_deref())?
                    .text(Some(source))?
                    .int(line)?;
                continue;
            };
            for (position, image) in (1..).zip(&record.images) {
                images
                    .text(Some(model))?
                    .text(Some(model_revision))?
                    .text(Some(judge))?
                    .text(Some(&record.prompt))?
                    .int(Some(position))?
                    .text(Some(image))?
                    .text(Some(source))?
                    .int(line)?;
            }
            let is_ok = reading.outcome == Outcome::Ok;
            let flag = |flag: &str| is_ok.then(|| self.taxonomy.has_flag(reading.labels, flag));
            let text = record.text.as_deref();
            assessments
                .text(Some(model))?
                .text(Some(model_revision))?
                .text(Some(judge))?
                .text(Some(&record.prompt))?
                .text(record.subject.as_deref())?
                .text(class)?
                .text(record.class_read.as_deref())?
                .text(record.detail_class.as_deref())?
                .flag(record.has_subject)?
                .int(Some(record.images.len() as i64))?
                // A line that could not be read is all there is of its record.
                .text(text.filter(|_| *keep_text || record.is_unread))?
                .text(text.map(|text| hex(&Sha256::digest(text.as_bytes()))).as_deref())?
                .text(Some(reading.outcome.name()))?
                .text(reading.reason.as_deref())?
                .flag(is_ok.then(|| reading.labels.mask() & 1 == 1))?
                .flag(flag("interaction"))?
                .flag(flag("human"))?
                .flag(flag("animal"))?
                .flag(flag("object"))?
                .text(is_ok.then(|| self.taxonomy.names(reading.labels).join("; ")).as_deref())?
                .text(Some(source))?
                .int(line)?;
        }
        let tables =
            vec![("prompts", prompts.finish()?), ("images", images.finish()?), ("assessments", assessments.finish()?)];
        Ok(SegmentTables { tables, ..SegmentTables::default() })
    }
}

/// The class of the board that a record's class stands for.
fn class_of(class: &str) -> Option<&'static str> {
    match class {
        "human" | "person" => Some("human"),
        "animal" => Some("animal"),
        "object" => Some("object"),
        _ => None,
    }
}

/// The form of a record; `None` if it is none of this dataset's.
fn form_of(members: &Members<'_>) -> Option<Form> {
    let has = |key: &str| members.contains_key(key);
    let is_result = ["gen_images", "has_subject", "subject_detection_response"].iter().any(|key| has(key))
        || has("response")
            && (has(PROMPT) && !["images", "image"].iter().any(|key| has(key)) || OWN.iter().any(|key| has(key)));
    if is_result {
        Some(Form::Answers)
    } else if has(PROMPT) && OWN.iter().any(|key| has(key)) {
        Some(Form::Metadata)
    } else {
        None
    }
}

/// The paths of the generated images: a list, or a text; what is neither scores nothing and is only noted.
fn images(members: &Members<'_>, notes: &mut Notes) -> Result<Vec<String>, String> {
    let Some(raw) = members.get("gen_images").copied().filter(|raw| !matches!(raw, Raw::Null)) else {
        return Ok(Vec::new());
    };
    let text = json_text(raw, notes)?.map_or_else(String::new, std::borrow::Cow::into_owned);
    Ok(match (raw, json::parse(&text).map(|node| node.value)) {
        (Raw::Text(_), Err(_)) => vec![text],
        (_, Ok(Value::Array(items))) => items.iter().map(|item| path(&item.value, item.text)).collect(),
        _ => {
            notes.add("`gen_images` that are no list of paths", 1);
            Vec::new()
        }
    })
}

fn path(value: &Value<'_>, json: &str) -> String {
    match value {
        Value::String(path) => path.to_string(),
        _ => json.to_owned(),
    }
}

/// `has_subject`: false, 0 and "false" are one; what says neither is not said.
fn has_subject(members: &Members<'_>, notes: &mut Notes) -> Option<bool> {
    let text = match members.get("has_subject") {
        None | Some(Raw::Null) => return None,
        Some(Raw::Text(raw)) => raw.text,
        Some(Raw::Other(text)) => text,
    };
    match text.trim().to_ascii_lowercase().as_str() {
        "" => None,
        "false" | "0" | "0.0" => Some(false),
        "true" | "1" | "1.0" => Some(true),
        other => {
            notes.add_listed("`has_subject` that says neither true nor false: ", &shown(other), 1);
            None
        }
    }
}

impl Reader for MagicBench {
    fn dataset(&self) -> &'static str {
        DATASET
    }

    fn identity(&self) -> String {
        format!("1 taxonomy {}", self.taxonomy.digest)
    }

    fn form(&self, segment: &Segment) -> Option<Form> {
        form_by(segment, form_of)
    }

    fn setting_is_about(&self, setting: &str) -> Option<&'static str> {
        match setting {
            "--model" | "--model-revision" | "--judge" | "--no-raw" | "--provenance" => Some("a file of results"),
            _ => None,
        }
    }

    fn classify(&self, form: Form, location: &Location, options: &SourceOptions) -> Result<Classified> {
        if form != Form::Answers {
            return Ok(Classified { form, options: SourceOptions::default(), takes_provenance: false });
        }
        let own = SourceOptions {
            model: names::given_or_folder(&options.model, location, 1, "--model")?,
            model_revision: options.model_revision.clone(),
            judge: options.judge.clone(),
            keep_text: options.keep_text,
            ..SourceOptions::default()
        };
        Ok(Classified { form, options: own, takes_provenance: true })
    }

    fn read(&self, segment: &Segment, source: &str, file: &Classified) -> Result<SegmentTables> {
        let walked = walk(segment, |found, notes| {
            let read =
                members::members(found.content, notes).and_then(|members| self.record(&members, file.form, notes));
            match read {
                // A line of results that cannot be read is a record of the ledger, as one without a prompt is.
                Err(reason) if file.form == Form::Answers => {
                    notes.add("lines of results that cannot be read, counted as skipped", 1);
                    let labels = LabelSet::default();
                    let reading = Reading { outcome: Outcome::ParseFailed, reason: Some(reason), labels };
                    Ok(Record {
                        text: Some(excerpt(found)),
                        reading: Some(reading),
                        is_unread: true,
                        ..Record::default()
                    })
                }
                read => read,
            }
        });
        walked.finish(|mut records| {
            records.sort_by(|a, b| (&a.1.prompt, a.0).cmp(&(&b.1.prompt, b.0)));
            self.rows(&records, file, source)
        })
    }
}
