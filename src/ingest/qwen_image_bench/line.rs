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
    pub model: &'a str,
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
        dims_en: text_of("dims_en", notes)?,
        replies: replies(&members, &names, rubric, notes),
    };
    note_ignored(&members, &names, rubric, notes);
    Ok(record)
}

type Members<'a> = BTreeMap<&'a str, Raw<'a>>;

fn members<'a>(text: &'a str, notes: &mut Notes) -> Result<Members<'a>, String> {
    let mut parser = Parser::new(text, 0);
    if parser.peek() != Some(b'{') {
        return Err(match json::parse(text) {
            Ok(node) => format!("{} where an object is due", node.value.kind()),
            Err(error) => format!("not JSON: {} at byte {}", error.what, error.at + 1),
        });
    }
    let mut found = BTreeMap::new();
    let (mut escaped_keys, mut repeated) = (0, 0);
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
        escaped_keys += u64::from(name.escaped);
        // The last of two equal keys counts, as in Python.
        repeated += u64::from(found.insert(name.text, value).is_some());
        Ok(())
    });
    walked.and_then(|()| parser.end()).map_err(|error| format!("not JSON: {} at byte {}", error.what, error.at + 1))?;
    for (what, count) in
        [("keys with escapes, taken as written", escaped_keys), ("keys twice on a line, the last one taken", repeated)]
    {
        if count > 0 {
            *notes.entry(what.into()).or_default() += count;
        }
    }
    Ok(found)
}

/// Splits a response key into pillar and model name.
fn response_key<'a>(key: &'a str, rubric: &Rubric) -> Option<(usize, &'a str)> {
    let at = key.find(RESPONSE)?;
    let name = &key[at + RESPONSE.len()..];
    let pillar = rubric.pillars.iter().position(|pillar| pillar.prefix == key[..at])?;
    (!name.is_empty()).then_some((pillar, name))
}

/// Model names on the line, each with the model and language it stands for.
fn reply_names<'a>(members: &Members<'a>, rubric: &Rubric) -> BTreeMap<&'a str, (&'a str, &'static str)> {
    let names: BTreeSet<&str> =
        members.keys().filter_map(|key| response_key(key, rubric)).map(|(_, name)| name).collect();
    let resolve = |name: &'a str| match name.strip_suffix("_en") {
        Some(base)
            if !base.is_empty()
                && !members.contains_key(name)
                && (members.contains_key(base) || names.contains(base)) =>
        {
            (base, "en")
        }
        _ => (name, "cn"),
    };
    names.iter().map(|name| (*name, resolve(name))).collect()
}

fn replies<'a>(
    members: &Members<'a>,
    names: &BTreeMap<&'a str, (&'a str, &'static str)>,
    rubric: &Rubric,
    notes: &mut Notes,
) -> Vec<LineReply<'a>> {
    for (name, (_, lang)) in names.iter().filter(|(name, _)| name.ends_with("_en")) {
        notes.entry(format!("{LANG_NOTE}{name}={lang}")).or_insert(1);
    }
    let mut replies = Vec::new();
    for (key, value) in members {
        let Some((pillar, name)) = response_key(key, rubric) else { continue };
        let (model, lang) = names.get(name).copied().unwrap_or((name, "cn"));
        let image = members.get(name).copied().filter(|image| !matches!(image, Raw::Null));
        replies.push(LineReply { model, lang, pillar, value: *value, image });
    }
    replies
}

/// Notes that start so record how a name ending in `_en` was taken; the loader compares them across lines.
pub const LANG_NOTE: &str = "lang:";

fn note_ignored(
    members: &Members<'_>,
    names: &BTreeMap<&str, (&str, &'static str)>,
    rubric: &Rubric,
    notes: &mut Notes,
) {
    const USED: [&str; 5] = ["ID", "prompt_cn", "prompt_en", "dims_cn", "dims_en"];
    for key in members.keys() {
        let is_used = USED.contains(key) || names.contains_key(key) || response_key(key, rubric).is_some();
        if !is_used {
            // A hostile file could name a new key on every line.
            let note = format!("key ignored: {}", shown(key));
            if notes.len() < 200 || notes.contains_key(&note) {
                *notes.entry(note).or_default() += 1;
            } else {
                *notes.entry("keys ignored, further names".into()).or_default() += 1;
            }
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
    if replaced > 0 {
        *notes.entry("lone surrogates replaced by U+FFFD".into()).or_default() += u64::from(replaced);
    }
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
