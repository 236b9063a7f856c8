//! One line: an image, its labels, a prediction about it, or its generator.

use regex::Regex;

use super::{GENERATORS, IMAGES, PROMPTS, form_of, no_record};
use crate::error::{Error, ErrorKind, Result};
use crate::ingest::artifacts::gold::{self, Gold};
use crate::ingest::artifacts::{Reading, Taxonomy, exact, keywords};
use crate::ingest::members::{Members, Raw, first_of, json_text, note_ignored, shown, text_member};
use crate::ingest::{Form, Notes, SourceOptions};
use crate::python::json::{self, Value};

/// What a line says.
#[derive(Debug)]
pub(super) struct Record {
    pub image: String,
    pub n_paths: i64,
    pub prompt: Option<String>,
    pub prompt_is_cut: bool,
    pub generator: Option<String>,
    pub gold: Option<Gold>,
    pub gold_text: Option<String>,
    pub prediction: Option<Prediction>,
}

/// What an assessor said of an image.
#[derive(Debug)]
pub(super) struct Prediction {
    pub text: Option<String>,
    pub exact: Reading,
    pub keywords: Reading,
}

/// `--generator-from`.
pub(super) fn generator_pattern(options: &SourceOptions) -> Result<Option<Regex>> {
    let pattern = options.generator_from.as_str();
    let compiled = (!pattern.is_empty()).then(|| Regex::new(pattern)).transpose();
    compiled.map_err(|e| {
        Error::new(ErrorKind::Usage, format!("--generator-from is no regular expression: {e}")).caused_by(e)
    })
}

impl Record {
    /// Takes a line apart; the error is the reason of a reject.
    pub(super) fn read(
        members: &Members<'_>,
        form: Form,
        taxonomy: &Taxonomy,
        generator: Option<&Regex>,
        notes: &mut Notes,
    ) -> Result<Self, String> {
        let found = form_of(members).ok_or_else(|| no_record(members))?;
        match (form, found) {
            (Form::Human, Form::Judged) => {
                return Err("a prediction, in a file that began with labels: name the assessor with --model".into());
            }
            (Form::Metadata, Form::Judged | Form::Human) => {
                return Err("labels or a prediction, in a file that began as a table of generators".into());
            }
            (Form::Judged | Form::Human, Form::Metadata) => return Err(no_record(members)),
            _ => {}
        }
        let (image, n_paths) = path(members)?;
        notes.add("records with more than one image, the first one taken", u64::from(n_paths > 1));
        let by_key = first_of(members, &GENERATORS).map(|key| text_member(members, key, notes)).transpose()?.flatten();
        let generator = by_key.or_else(|| {
            let groups = generator?.captures(&image)?;
            groups.get(1).or_else(|| groups.get(0)).map(|group| group.as_str().to_owned())
        });
        let prompt_key = first_of(members, &PROMPTS);
        let prompt = prompt_key.map(|key| text_member(members, key, notes)).transpose()?.flatten();
        let cut = prompt.as_deref().filter(|_| prompt_key == Some("query")).and_then(cut_prompt).map(str::to_owned);
        let mut record = Self {
            image,
            n_paths,
            prompt_is_cut: cut.is_some(),
            prompt: cut.or(prompt),
            generator,
            gold: None,
            gold_text: None,
            prediction: None,
        };
        let response = members.get("response").copied();
        let (label_text, prediction) = match (found, members.get("output").copied()) {
            (Form::Judged, Some(output)) => (response, Some(output)),
            (Form::Judged, None) => (None, response),
            _ => (response, None),
        };
        if let Some(raw) = label_text {
            let text = json_text(raw, notes)?;
            record.gold = Some(gold::read(text.as_deref(), taxonomy, notes));
            record.gold_text = text.map(std::borrow::Cow::into_owned);
        }
        if let Some(raw) = prediction {
            let text = json_text(raw, notes)?.map(std::borrow::Cow::into_owned);
            let (exact, keywords) = (exact::read(text.as_deref(), taxonomy), keywords::read(text.as_deref(), taxonomy));
            record.prediction = Some(Prediction { text, exact, keywords });
        }
        let is_read = |key: &str| {
            ["response", "output"].contains(&key)
                || [&PROMPTS[..], &IMAGES, &GENERATORS].iter().any(|names| names.contains(&key))
        };
        note_ignored(members, is_read, notes);
        Ok(record)
    }
}

/// The path of the image, and how many there are: a text, or a list of them.
fn path(members: &Members<'_>) -> Result<(String, i64), String> {
    let key = first_of(members, &IMAGES).ok_or_else(|| no_record(members))?;
    let bad = |found: &str| format!("`{key}` is {found} where a path or a list with one is due");
    let mut ignored = Notes::default();
    let (text, is_json) = match members.get(key).copied() {
        Some(raw @ Raw::Other(_)) => (json_text(raw, &mut ignored)?, true),
        Some(raw) => (json_text(raw, &mut ignored)?, false),
        None => (None, false),
    };
    let text = text.ok_or_else(|| bad("null"))?;
    // A table holds a list as its JSON text.
    if !is_json && !text.starts_with('[') {
        return if text.is_empty() { Err(bad("empty")) } else { Ok((text.into_owned(), 1)) };
    }
    let Ok(Value::Array(items)) = json::parse(&text).map(|node| node.value) else { return Err(bad(&shown(&text))) };
    let first = match items.first().map(|item| &item.value) {
        Some(Value::String(path)) if !path.is_empty() => path.to_string(),
        _ => return Err(bad(&shown(&text))),
    };
    Ok((first, items.len() as i64))
}

/// The prompt between braces after "text prompt as" in a judge's whole instruction.
fn cut_prompt(query: &str) -> Option<&str> {
    let after = &query[query.find("text prompt as")?..];
    let (open, close) = (after.find('{')?, after.find('}')?);
    (open < close).then(|| after[open + 1..close].trim())
}
