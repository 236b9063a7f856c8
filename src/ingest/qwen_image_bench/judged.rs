//! A record of a judged file: the replies about one image of one's own model.
//!
//! The raw texts of the judge score. `judge_model_output`, what the judging script made of them, speaks only for pillars without
//! a text; where both are there and differ, that is counted.

use std::borrow::Cow;

use super::{Record, RecordReply, ReplyText, reply};
use crate::ingest::members::{Members, Raw, note_ignored, prompt_id, shown, text_member, text_of};
use crate::ingest::{Notes, SourceOptions};
use crate::python;
use crate::python::json::{self, Node, RawString, Value};
use crate::schema::taxonomy::{Pillar, Rubric};

/// What the judging script parsed, all pillars in one.
const PARSED: &str = "judge_model_output";
/// Behind a pillar's prefix: the judge's raw text.
const TEXT: &str = "_judge_output";

/// Whether the record is one of a judged file.
pub(super) fn is_judged(members: &Members<'_>, rubric: &Rubric) -> bool {
    members.contains_key(PARSED) || rubric.pillars.iter().any(|pillar| members.contains_key(text_key(pillar).as_str()))
}

/// Whether the record is about an image, although it may say nothing of it.
pub(super) fn names_image(members: &Members<'_>) -> bool {
    ["image_path", "image"].iter().any(|name| members.contains_key(*name))
}

fn text_key(pillar: &Pillar) -> String {
    format!("{}{TEXT}", pillar.prefix)
}

/// Takes a record apart; the error is the reason of a reject.
pub(super) fn record<'a>(
    mut members: Members<'a>,
    rubric: &Rubric,
    options: &SourceOptions,
    notes: &mut Notes,
) -> Result<Record<'a>, String> {
    members.values_mut().filter(|value| is_missing(value)).for_each(|value| *value = Raw::Null);
    let lang = if options.lang == "en" { "en" } else { "cn" };
    let mut prompts = [text_member(&members, "prompt_cn", notes)?, text_member(&members, "prompt_en", notes)?];
    let own = &mut prompts[usize::from(lang == "en")];
    if own.is_none() {
        *own = text_member(&members, "prompt", notes)?;
    }
    let [prompt_cn, prompt_en] = prompts;
    const READ: [&str; 9] =
        ["ID", "prompt", "prompt_cn", "prompt_en", "dims_cn", "dims_en", "image_path", "image", PARSED];
    let is_read = |key: &str| READ.contains(&key) || rubric.pillars.iter().any(|pillar| text_key(pillar) == key);
    note_ignored(&members, is_read, notes);
    Ok(Record {
        prompt_id: prompt_id(&members)?,
        prompt_cn,
        prompt_en,
        dims_en: text_member(&members, "dims_en", notes)?.filter(|dims| !dims.trim().is_empty()),
        replies: replies(&members, rubric, options, lang, notes)?,
    })
}

/// What pandas leaves where there is nothing: a bare NaN, or its name where it wrote texts.
fn is_missing(value: &Raw<'_>) -> bool {
    matches!(value, Raw::Other("NaN") | Raw::Text(RawString { text: "NaN" | "nan", .. }))
}

fn replies<'a>(
    members: &Members<'a>,
    rubric: &Rubric,
    options: &SourceOptions,
    lang: &'static str,
    notes: &mut Notes,
) -> Result<Vec<RecordReply<'a>>, String> {
    let parsed_text = members.get(PARSED).map_or(Ok(None), |raw| match raw {
        Raw::Other(json) => Ok(Some(Cow::Borrowed(*json))),
        other => text_of(*other, notes),
    })?;
    let parsed_text = parsed_text.filter(|text| !python::strip(text).is_empty());
    let parsed = parsed_text.as_deref().and_then(|text| Parsed::read(text, rubric, notes));
    let filled = |name: &&str| members.get(*name).copied().filter(|image| !matches!(image, Raw::Null));
    let image = ["image_path", "image"].iter().find_map(filled);
    let mut replies = Vec::new();
    for (at, pillar) in rubric.pillars.iter().enumerate() {
        let text = members.get(text_key(pillar).as_str()).map_or(Ok(None), |raw| text_of(*raw, notes))?;
        let text = text.filter(|text| !python::strip(text).is_empty());
        let other = parsed.as_ref().and_then(|parsed| parsed.pillar(pillar));
        let text = match (text, other) {
            (None, Some(other)) => {
                notes.add(&format!("replies without text, taken from {PARSED}"), 1);
                Some(Cow::Owned(other.to_owned()))
            }
            (Some(text), other) => {
                if parsed.is_some() && cells(Some(&text), pillar) != cells(other, pillar) {
                    notes.add(&format!("replies whose text and {PARSED} differ, the text taken"), 1);
                }
                Some(text)
            }
            (None, None) => None,
        };
        replies.push(RecordReply {
            model: Cow::Owned(options.model.clone()),
            lang,
            pillar: at,
            text: ReplyText::Read(text),
            image,
        });
    }
    Ok(replies)
}

/// What a text says under the official reading, which is what the judging script parses by.
fn cells(text: Option<&str>, pillar: &Pillar) -> Vec<String> {
    let read = reply::read(text, pillar);
    let sides = read.entries.iter().filter_map(|entry| entry.official.as_ref());
    let mut cells: Vec<_> = sides
        .filter_map(|side| side.judged.map(|(_, value)| format!("{} / {}: {value:?}", side.capability, side.facet)))
        .collect();
    cells.sort();
    cells
}

/// `judge_model_output`: {pillar: {capability: {facet: {"score": …}}}}.
struct Parsed<'p> {
    members: Vec<(Cow<'p, str>, Node<'p>)>,
}

impl<'p> Parsed<'p> {
    fn read(text: &'p str, rubric: &Rubric, notes: &mut Notes) -> Option<Self> {
        let members = match json::parse(text).map(|node| node.value) {
            Ok(Value::Object(members)) => members,
            _ => {
                notes.add(&format!("{PARSED} is no JSON object"), 1);
                return None;
            }
        };
        for (name, _) in &members {
            if !rubric.pillars.iter().any(|pillar| pillar.name == *name) {
                notes.add_listed(&format!("{PARSED} has what is no pillar of the rubric: "), &shown(name), 1);
            }
        }
        Some(Self { members })
    }

    /// The JSON text about one pillar; null and an empty object say nothing.
    fn pillar(&self, pillar: &Pillar) -> Option<&'p str> {
        let (_, node) = self.members.iter().rev().find(|(name, _)| *name == pillar.name)?;
        match &node.value {
            Value::Null => None,
            Value::Object(members) if members.is_empty() => None,
            _ => Some(node.text),
        }
    }
}
