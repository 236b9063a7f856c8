//! One line of a Qwen-Image-Bench file: which keys are what.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::ingest::Notes;
use crate::python::json::{self, Parser, RawString, Value};
use crate::schema::taxonomy::Rubric;

/// A member's value, not yet unescaped.
#[derive(Debug, Clone, Copy)]
pub(super) enum Raw<'a> {
    Text(RawString<'a>),
    Null,
    /// Any other JSON, as text.
    Other(&'a str),
}

/// One reply on the line.
#[derive(Debug)]
pub(super) struct LineReply<'a> {
    pub model: Cow<'a, str>,
    pub lang: &'static str,
    pub pillar: usize,
    pub value: Raw<'a>,
    pub image: Option<Raw<'a>>,
}

/// A line taken apart.
#[derive(Debug)]
pub(super) struct Record<'a> {
    pub prompt_id: i64,
    pub prompt_cn: Option<String>,
    pub prompt_en: Option<String>,
    pub dims_en: Option<String>,
    pub replies: Vec<LineReply<'a>>,
}

const RESPONSE: &str = "_response_";

/// Takes a line apart; the error is the reason of a reject.
pub(super) fn parse<'a>(text: &'a str, rubric: &Rubric, notes: &mut Notes) -> Result<Record<'a>, String> {
    let members = members(text, notes)?;
    let get = |name: &str| members.get(name).copied();
    let text_of = |name: &str, notes: &mut Notes| match get(name) {
        None | Some(Raw::Null) => Ok(None),
        Some(Raw::Text(raw)) => unescape(raw, notes).map(|text| Some(text.into_owned())),
        Some(Raw::Other(other)) => Err(format!("`{name}` is {} where a text is due", shown(other))),
    };

    let names = reply_names(&members, rubric);
    if names.is_empty() && get("dims_en").is_none() {
        return Err(format!("neither a judge response nor dims_en: the line has the keys {}", keys(&members)));
    }
    let prompt_id = match get("ID") {
        Some(raw) => prompt_id(raw)?,
        None => return Err(format!("no ID: the line has the keys {}", keys(&members))),
    };
    let record = Record {
        prompt_id,
        prompt_cn: text_of("prompt_cn", notes)?,
        prompt_en: text_of("prompt_en", notes)?,
        dims_en: text_of("dims_en", notes)?.filter(|dims| !dims.trim().is_empty()),
        replies: replies(&members, &names, rubric, notes),
    };
    note_ignored(&members, &names, rubric, notes);
    Ok(record)
}

type Members<'a> = BTreeMap<Cow<'a, str>, Raw<'a>>;

/// Names on a line, each with the model and language it stands for.
type Names<'a> = BTreeMap<String, (Cow<'a, str>, &'static str)>;

fn members<'a>(text: &'a str, notes: &mut Notes) -> Result<Members<'a>, String> {
    let mut parser = Parser::new(text, 0);
    if parser.peek() != Some(b'{') {
        return Err(match json::parse(text) {
            Ok(node) => format!("{} where an object is due", node.value.kind()),
            Err(error) => format!("not JSON: {} at byte {}", error.what, error.at + 1),
        });
    }
    let mut found = BTreeMap::new();
    let mut repeated = 0;
    let walked = parser.members(|parser, name| {
        let first = parser.peek();
        let start = parser.position();
        let value = match first {
            Some(b'"') => Raw::Text(parser.string()?),
            _ => {
                parser.skip()?;
                match &text[start..parser.position()] {
                    "null" => Raw::Null,
                    other => Raw::Other(other),
                }
            }
        };
        let name = json::decode(name, false).map_err(|what| json::JsonError { at: start, what })?;
        // The last of two equal keys counts, as in Python.
        repeated += u64::from(found.insert(name, value).is_some());
        Ok(())
    });
    walked.and_then(|()| parser.end()).map_err(|error| format!("not JSON: {} at byte {}", error.what, error.at + 1))?;
    notes.add("keys twice on a line, the last one taken", repeated);
    Ok(found)
}

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

fn replies<'a>(members: &Members<'a>, names: &Names<'a>, rubric: &Rubric, notes: &mut Notes) -> Vec<LineReply<'a>> {
    for (name, (_, lang)) in names.iter().filter(|(name, _)| name.ends_with("_en")) {
        notes.add(&format!("{LANG_NOTE}{name}={lang}"), 1);
    }
    let mut replies = Vec::new();
    for (key, value) in members {
        let Some((pillar, name)) = response_key(key, rubric) else { continue };
        let Some((model, lang)) = names.get(name) else { continue };
        let image = members.get(name).copied().filter(|image| !matches!(image, Raw::Null));
        replies.push(LineReply { model: model.clone(), lang, pillar, value: *value, image });
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

fn note_ignored(members: &Members<'_>, names: &Names<'_>, rubric: &Rubric, notes: &mut Notes) {
    const USED: [&str; 5] = ["ID", "prompt_cn", "prompt_en", "dims_cn", "dims_en"];
    for key in members.keys() {
        let key = key.as_ref();
        if !USED.contains(&key) && !names.contains_key(key) && response_key(key, rubric).is_none() {
            notes.add(&format!("key ignored: {}", shown(key)), 1);
        }
    }
}

/// Resolves escapes; lone surrogates become U+FFFD and are counted.
pub(super) fn unescape<'a>(raw: RawString<'a>, notes: &mut Notes) -> Result<Cow<'a, str>, String> {
    if !raw.escaped {
        return Ok(Cow::Borrowed(raw.text));
    }
    let mut text = String::with_capacity(raw.text.len());
    let replaced = json::decode_into(raw.text, &mut text)?;
    notes.add("lone surrogates replaced by U+FFFD", u64::from(replaced));
    Ok(Cow::Owned(text))
}

/// 7, "7", 7.0 and "7.0" are one ID.
fn prompt_id(raw: Raw<'_>) -> Result<i64, String> {
    let text = match raw {
        Raw::Null => return Err("ID is null".into()),
        Raw::Text(raw) => raw.text.trim(),
        Raw::Other(text) => text,
    };
    let number = match json::parse(text).map(|node| node.value) {
        Ok(Value::Int(digits)) => digits.parse().ok(),
        Ok(Value::Float(value)) if value.fract() == 0.0 && value.abs() < 9.0e15 => Some(value as i64),
        _ => None,
    };
    number.ok_or_else(|| format!("ID is {} where an integer is due", shown(text)))
}

fn keys(members: &Members<'_>) -> String {
    let mut keys: Vec<_> = members.keys().take(12).map(|key| shown(key)).collect();
    if members.len() > keys.len() {
        keys.push("…".into());
    }
    if keys.is_empty() { "(none)".into() } else { keys.join(", ") }
}

/// A text for a message: short and free of control characters.
fn shown(text: &str) -> String {
    let mut out: String = text
        .chars()
        .take(60)
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect();
    if text.chars().nth(60).is_some() {
        out.push('…');
    }
    out
}
