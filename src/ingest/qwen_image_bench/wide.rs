//! A record of the public file: the replies about the images of many models on one prompt.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{Record, RecordReply, ReplyText};
use crate::ingest::Notes;
use crate::ingest::members::{Members, Raw, keys, note_ignored, prompt_id, text_member};
use crate::schema::taxonomy::Rubric;

const RESPONSE: &str = "_response_";

/// Whether any member is a reply.
pub(super) fn has_replies(members: &Members<'_>, rubric: &Rubric) -> bool {
    members.keys().any(|key| response_key(key, rubric).is_some())
}

/// Takes a record apart; the error is the reason of a reject.
pub(super) fn record<'a>(members: &Members<'a>, rubric: &Rubric, notes: &mut Notes) -> Result<Record<'a>, String> {
    let names = reply_names(members, rubric);
    if names.is_empty() && !members.contains_key("dims_en") {
        return Err(format!(
            "no judge's reply (quality_judge_output, quality_response_MODEL, …) and no dims_en: the record has the keys {}",
            keys(members)
        ));
    }
    let record = Record {
        prompt_id: prompt_id(members)?,
        prompt_cn: text_member(members, "prompt_cn", notes)?,
        prompt_en: text_member(members, "prompt_en", notes)?,
        dims_en: text_member(members, "dims_en", notes)?.filter(|dims| !dims.trim().is_empty()),
        replies: replies(members, &names, rubric, notes),
    };
    const READ: [&str; 5] = ["ID", "prompt_cn", "prompt_en", "dims_cn", "dims_en"];
    let is_read = |key: &str| READ.contains(&key) || names.contains_key(key) || response_key(key, rubric).is_some();
    note_ignored(members, is_read, notes);
    Ok(record)
}

/// Names on a line, each with the model and language it stands for.
type Names<'a> = BTreeMap<String, (Cow<'a, str>, &'static str)>;

/// Splits a response key into pillar and model name.
fn response_key<'k>(key: &'k str, rubric: &Rubric) -> Option<(usize, &'k str)> {
    let at = key.find(RESPONSE)?;
    let name = &key[at + RESPONSE.len()..];
    let pillar = rubric.pillars.iter().position(|pillar| pillar.prefix == key[..at])?;
    (!name.is_empty()).then_some((pillar, name))
}

/// Part of a key, borrowed if the key is.
fn part<'a>(key: &Cow<'a, str>, range: std::ops::Range<usize>) -> Cow<'a, str> {
    match key {
        Cow::Borrowed(key) => Cow::Borrowed(&key[range]),
        Cow::Owned(key) => Cow::Owned(key[range].to_owned()),
    }
}

/// Decides for each model name of the line which model and language it stands for.
fn reply_names<'a>(members: &Members<'a>, rubric: &Rubric) -> Names<'a> {
    const ENGLISH: &str = "_en";
    let keys: Vec<(&Cow<'a, str>, &str)> =
        members.keys().filter_map(|key| response_key(key, rubric).map(|(_, name)| (key, name))).collect();
    let names: BTreeSet<&str> = keys.iter().map(|(_, name)| *name).collect();
    let is_english = |name: &str| {
        name.strip_suffix(ENGLISH).is_some_and(|base| {
            !base.is_empty() && !members.contains_key(name) && (members.contains_key(base) || names.contains(base))
        })
    };
    let mut resolved = Names::new();
    for (key, name) in keys {
        if !resolved.contains_key(name) {
            let start = key.len() - name.len();
            let found = match is_english(name) {
                true => (part(key, start..key.len() - ENGLISH.len()), "en"),
                false => (part(key, start..key.len()), "cn"),
            };
            resolved.insert(name.to_owned(), found);
        }
    }
    resolved
}

fn replies<'a>(members: &Members<'a>, names: &Names<'a>, rubric: &Rubric, notes: &mut Notes) -> Vec<RecordReply<'a>> {
    for (name, (_, lang)) in names.iter().filter(|(name, _)| name.ends_with("_en")) {
        notes.add(&format!("{LANG_NOTE}{name}={lang}"), 1);
    }
    let mut replies = Vec::new();
    for (key, value) in members {
        let Some((pillar, name)) = response_key(key, rubric) else { continue };
        let Some((model, lang)) = names.get(name) else { continue };
        let image = members.get(name).copied().filter(|image| !matches!(image, Raw::Null));
        replies.push(RecordReply { model: model.clone(), lang, pillar, text: ReplyText::Raw(*value), image });
    }
    replies
}

/// Notes that begin so record how a name ending in `_en` was taken; [`conclude`] compares them across lines.
const LANG_NOTE: &str = "lang:";

/// Tells of names ending in `_en` that are a language on some lines and a model on others.
pub(super) fn conclude(notes: &mut Notes) {
    let resolved = notes.take_prefixed(LANG_NOTE);
    for name in resolved.iter().filter_map(|note| note.strip_suffix("=cn")) {
        if resolved.contains(&format!("{name}=en")) {
            notes.add(&format!("`{name}` is English of its base on some lines and a model of its own on others"), 1);
        }
    }
}
