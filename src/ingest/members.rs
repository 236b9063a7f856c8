//! A record's members, whatever form it has: a JSON object or a row under a header.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::error::{Error, ErrorKind, Result};
use crate::ingest::Notes;
use crate::python::json::{self, Parser, RawString, Value};
use crate::source::{Content, Row};

/// A member's value, not yet unescaped.
#[derive(Debug, Clone, Copy)]
pub(in crate::ingest) enum Raw<'a> {
    Text(RawString<'a>),
    Null,
    /// Any other JSON, as text.
    Other(&'a str),
}

impl<'a> Raw<'a> {
    /// Its text, in `scratch` if it had escapes. JSON that is no string stands for itself, so that the readings can say what
    /// is wrong with it; lone surrogates become U+FFFD and are counted.
    pub(in crate::ingest) fn resolved<'s>(self, scratch: &'s mut String, notes: &mut Notes) -> Result<Option<&'s str>>
    where
        'a: 's,
    {
        Ok(match self {
            Self::Null => None,
            Self::Text(RawString { text, escaped: false }) => Some(text),
            Self::Text(RawString { text, escaped: true }) => {
                scratch.clear();
                let replaced = json::decode_into(text, scratch).map_err(|e| Error::new(ErrorKind::Check, e))?;
                notes.add(LONE_SURROGATES, u64::from(replaced));
                Some(scratch)
            }
            Self::Other(json) => {
                notes.add(NOT_TEXT, 1);
                Some(json)
            }
        })
    }
}

const LONE_SURROGATES: &str = "lone surrogates replaced by U+FFFD";
const NOT_TEXT: &str = "values that are JSON where a text is due, read as text";

/// Members by name.
pub(in crate::ingest) type Members<'a> = BTreeMap<Cow<'a, str>, Raw<'a>>;

/// The members of a record; the error is the reason of a reject.
pub(in crate::ingest) fn members<'a>(content: Content<'a>, notes: &mut Notes) -> Result<Members<'a>, String> {
    match content {
        Content::Json(bytes) => {
            let text = std::str::from_utf8(bytes)
                .map_err(|e| format!("not UTF-8 at byte {} of the line", e.valid_up_to() + 1))?;
            object(text, notes)
        }
        Content::Row(row) => {
            notes.add_listed("key ignored: ", "(a column without name)", u64::from(row.has_unnamed()));
            fields(row)
        }
    }
}

/// Empty fields are null: a table cannot tell them apart.
fn fields(row: Row<'_>) -> Result<Members<'_>, String> {
    let value = |text| match text {
        "" => Raw::Null,
        text => Raw::Text(RawString { text, escaped: false }),
    };
    Ok(row.named()?.into_iter().map(|(name, text)| (Cow::Borrowed(name), value(text))).collect())
}

fn object<'a>(text: &'a str, notes: &mut Notes) -> Result<Members<'a>, String> {
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

/// A member that should be a text.
pub(in crate::ingest) fn text_member(
    members: &Members<'_>,
    name: &str,
    notes: &mut Notes,
) -> Result<Option<String>, String> {
    match members.get(name).copied() {
        None => Ok(None),
        Some(Raw::Other(other)) => Err(format!("`{name}` is {} where a text is due", shown(other))),
        Some(raw) => Ok(text_of(raw, notes)?.map(Cow::into_owned)),
    }
}

/// The member `ID`: 7, "7", 7.0 and "7.0" are one.
pub(in crate::ingest) fn prompt_id(members: &Members<'_>) -> Result<i64, String> {
    let text = match members.get("ID") {
        None => return Err(format!("no ID: the record has the keys {}", keys(members))),
        Some(Raw::Null) => return Err("ID is null".into()),
        Some(Raw::Text(raw)) => raw.text.trim(),
        Some(Raw::Other(text)) => text,
    };
    let number = match json::parse(text).map(|node| node.value) {
        Ok(Value::Int(digits)) => digits.parse().ok(),
        Ok(Value::Float(value)) if value.fract() == 0.0 && value.abs() < 9.0e15 => Some(value as i64),
        _ => None,
    };
    number.ok_or_else(|| format!("ID is {} where an integer is due", shown(text)))
}

/// Counts the members that nothing reads, by name.
pub(in crate::ingest) fn note_ignored(members: &Members<'_>, is_read: impl Fn(&str) -> bool, notes: &mut Notes) {
    for key in members.keys().filter(|key| !is_read(key)) {
        notes.add_listed("key ignored: ", &shown(key), 1);
    }
}

/// The names, for messages.
pub(in crate::ingest) fn keys(members: &Members<'_>) -> String {
    let mut keys: Vec<_> = members.keys().take(12).map(|key| shown(key)).collect();
    if members.len() > keys.len() {
        keys.push("…".into());
    }
    if keys.is_empty() { "(none)".into() } else { keys.join(", ") }
}

/// A text for a message: short and free of control characters.
pub(in crate::ingest) fn shown(text: &str) -> String {
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

/// The text of a value for keeping, by [`Raw::resolved`].
pub(in crate::ingest) fn text_of<'a>(raw: Raw<'a>, notes: &mut Notes) -> Result<Option<Cow<'a, str>>, String> {
    let mut own = String::new();
    raw.resolved(&mut own, notes).map_err(|e| e.message().to_owned())?;
    Ok(match raw {
        Raw::Null => None,
        Raw::Text(RawString { escaped: true, .. }) => Some(Cow::Owned(own)),
        Raw::Text(RawString { text, escaped: false }) | Raw::Other(text) => Some(Cow::Borrowed(text)),
    })
}

/// A member that should be a number; a number written as text is one. NaN and infinities come as they are.
pub(in crate::ingest) fn number_member(members: &Members<'_>, name: &str) -> Result<Option<f64>, String> {
    let text = match members.get(name) {
        None | Some(Raw::Null) => return Ok(None),
        Some(Raw::Text(raw)) => raw.text.trim(),
        Some(Raw::Other(text)) => text.trim(),
    };
    if text.is_empty() {
        return Ok(None);
    }
    let number = match json::parse(text).map(|node| node.value) {
        Ok(Value::Int(digits)) => digits.parse().ok(),
        Ok(Value::Float(value)) => Some(value),
        // Tables write what JSON does not: `.5`, `nan`.
        _ => text.parse().ok(),
    };
    number.map(Some).ok_or_else(|| format!("`{name}` is {} where a number is due", shown(text)))
}

/// A member that should be an integer: 7, "7", 7.0 and "7.0" are one.
pub(in crate::ingest) fn integer_member(members: &Members<'_>, name: &str) -> Result<Option<i64>, String> {
    match number_member(members, name)? {
        None => Ok(None),
        Some(value) if value.fract() == 0.0 && value.abs() < 9.0e15 => Ok(Some(value as i64)),
        Some(value) => Err(format!("`{name}` is {value} where an integer is due")),
    }
}

/// The first member of these names that is there and no null.
pub(in crate::ingest) fn first_of<'n>(members: &Members<'_>, names: &[&'n str]) -> Option<&'n str> {
    names.iter().copied().find(|name| members.get(*name).is_some_and(|raw| !matches!(raw, Raw::Null)))
}

/// A member's JSON; a text that holds JSON is that JSON, as files that were written twice have it.
pub(in crate::ingest) fn json_text<'a>(raw: Raw<'a>, notes: &mut Notes) -> Result<Option<Cow<'a, str>>, String> {
    match raw {
        Raw::Other(text) => Ok(Some(Cow::Borrowed(text))),
        other => text_of(other, notes),
    }
}
