//! One reply under both readings at once.

use std::borrow::Cow;

use super::cell::{Cell, Outcome, Reading, Side, State, object};
use super::{official, strict};
use crate::python;
use crate::python::json::{self, Node, Value};
use crate::schema::taxonomy::Pillar;

/// One entry of a reply, as read and as each reading counts it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry<'a> {
    /// The capability it stands under; empty in a flat reply.
    pub capability_read: Cow<'a, str>,
    /// The facet as the judge wrote it.
    pub facet_read: Cow<'a, str>,
    /// Its JSON text.
    pub raw: &'a str,
    /// Whether the rubric of the pillar knows the facet.
    pub in_rubric: bool,
    /// The strict reading's side; `None` where that reading has no such entry.
    pub strict: Option<Side<'a>>,
    /// The official reading's side; `None` where that reading has no such entry.
    pub official: Option<Side<'a>>,
}

/// A reply under both readings; entries are ordered by (`capability_read`, `facet_read`), which is their key.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply<'a> {
    /// How the strict reading fared.
    pub strict: Reading,
    /// How the official reading fared.
    pub official: Reading,
    /// The entries.
    pub entries: Vec<Entry<'a>>,
}

/// The part of a reply that both readings look at: what follows the last closing think tag, stripped.
pub fn tail(text: &str) -> &str {
    const CLOSE: &str = "</think>";
    python::strip(text.rfind(CLOSE).map_or(text, |at| &text[at + CLOSE.len()..]))
}

/// Reads a reply by both readings alone, without the short way for plain ones; for tests and measurement.
#[doc(hidden)]
pub fn read_long<'a>(text: Option<&'a str>, pillar: &'a Pillar) -> Reply<'a> {
    match text.filter(|text| !python::strip(text).is_empty()) {
        Some(text) => read_both(text, tail(text), json::parse(tail(text)).ok().as_ref(), pillar),
        None => read(None, pillar),
    }
}

/// Reads a reply on one pillar; `None` is a reply that is absent or null.
pub fn read<'a>(text: Option<&'a str>, pillar: &'a Pillar) -> Reply<'a> {
    let Some(text) = text.filter(|text| !python::strip(text).is_empty()) else {
        return Reply { strict: Reading::missing(), official: Reading::missing(), entries: Vec::new() };
    };
    let tail = tail(text);
    let direct = json::parse(tail).ok();
    if let Some(root) = &direct
        && let Some(plain) = read_plain(root, pillar)
    {
        return plain;
    }
    read_both(text, tail, direct.as_ref(), pillar)
}

/// What nearly every reply is: capabilities of the rubric's facets, each `{"score": …}` with 0, 1, 2 or N/A, no name twice. Of
/// such a reply both readings say the same, so that it is read once.
fn read_plain<'a>(root: &Node<'a>, pillar: &'a Pillar) -> Option<Reply<'a>> {
    let capabilities = object(root)?;
    let mut entries: Vec<Entry<'a>> = Vec::with_capacity(24);
    for (at, (capability_read, node)) in capabilities.iter().enumerate() {
        if at == MOST_PLAIN || capabilities[..at].iter().any(|(earlier, _)| earlier == capability_read) {
            return None;
        }
        for (facet_read, node) in object(node)? {
            let known = pillar.facet(facet_read).filter(|known| known.facet == facet_read)?;
            let [(key, score)] = object(node)? else { return None };
            let judged = match &score.value {
                Value::Int(digit @ ("0" | "1" | "2")) => (State::Ok, Some(i32::from(digit.as_bytes()[0] - b'0'))),
                Value::String(text) if text == "N/A" => (State::Na, None),
                _ => return None,
            };
            if key != "score" || pillar.alias(capability_read).is_some() || entries.len() == MOST_PLAIN {
                return None;
            }
            let side = Side {
                capability: Cow::Borrowed(known.capability),
                facet: Cow::Borrowed(known.facet),
                judged: Some(judged),
            };
            entries.push(Entry {
                capability_read: capability_read.clone(),
                facet_read: facet_read.clone(),
                raw: node.text,
                in_rubric: true,
                strict: Some(side.clone()),
                official: Some(side),
            });
        }
    }
    entries.sort_by(|a, b| (&a.capability_read, &a.facet_read).cmp(&(&b.capability_read, &b.facet_read)));
    // A facet that stands twice, under one capability or two, is for the readings to settle.
    let is_twice = |at: usize| entries[at + 1..].iter().any(|other| other.facet_read == entries[at].facet_read);
    if (0..entries.len()).any(is_twice) {
        return None;
    }
    let read = || Reading { outcome: Outcome::Ok, reason: None, repairs: Vec::new() };
    Some(Reply { strict: read(), official: read(), entries })
}

/// Capabilities and facets of a plain reply: no pillar of the rubric has more.
const MOST_PLAIN: usize = 64;

/// Reads a reply as each reading does, whatever it holds.
fn read_both<'a>(text: &'a str, tail: &'a str, direct: Option<&Node<'a>>, pillar: &'a Pillar) -> Reply<'a> {
    let (official, official_cells) = read_official(tail, direct, pillar);
    let (strict, strict_cells) = read_strict(text, tail, direct, pillar);
    Reply { strict, official, entries: merge(strict_cells, official_cells) }
}

fn read_official<'a>(tail: &'a str, direct: Option<&Node<'a>>, pillar: &'a Pillar) -> (Reading, Vec<Cell<'a>>) {
    let mut reading = Reading { outcome: Outcome::Ok, reason: None, repairs: Vec::new() };
    let mut scratch = None;
    match official::document(tail, direct, &mut scratch) {
        Ok((root, braces)) => {
            if braces {
                reading.repairs.push("braces");
            }
            let cells = official::cells(root, pillar, &mut reading);
            (reading, cells)
        }
        Err(reason) => (Reading::failed(reason), Vec::new()),
    }
}

fn read_strict<'a>(
    text: &'a str,
    tail: &'a str,
    direct: Option<&Node<'a>>,
    pillar: &'a Pillar,
) -> (Reading, Vec<Cell<'a>>) {
    let mut reading = Reading { outcome: Outcome::Ok, reason: None, repairs: Vec::new() };
    let repaired;
    let root = match direct {
        Some(node) if object(node).is_some() => node,
        Some(_other) => return (Reading::failed("the JSON is no object"), Vec::new()),
        None => match strict::repair(text, tail, pillar, &mut reading) {
            Ok(node) => {
                repaired = node;
                &repaired
            }
            Err(reason) => return (Reading::failed(reason), Vec::new()),
        },
    };
    let cells = strict::cells(root, pillar, &mut reading);
    (reading, cells)
}

fn merge<'a>(strict: Vec<Cell<'a>>, official: Vec<Cell<'a>>) -> Vec<Entry<'a>> {
    let entry = |cell: Cell<'a>, is_strict: bool| {
        let (strict, official) = if is_strict { (Some(cell.side), None) } else { (None, Some(cell.side)) };
        Entry {
            capability_read: cell.capability_read,
            facet_read: cell.facet_read,
            raw: cell.raw,
            in_rubric: cell.in_rubric,
            strict,
            official,
        }
    };
    let mut all: Vec<Entry<'a>> = Vec::with_capacity(strict.len() + official.len());
    all.extend(strict.into_iter().map(|cell| entry(cell, true)));
    all.extend(official.into_iter().map(|cell| entry(cell, false)));
    all.sort_by(|a, b| (&a.capability_read, &a.facet_read).cmp(&(&b.capability_read, &b.facet_read)));
    // The sort is stable: of entries with one key the strict ones come first, in reading order.
    all.dedup_by(|later, kept| {
        let same = later.capability_read == kept.capability_read && later.facet_read == kept.facet_read;
        if same {
            kept.raw = later.raw;
            if let Some(side) = later.strict.take() {
                // A repeated key: the entry that holds the cell speaks for both.
                if side.judged.is_some() || kept.strict.is_none() {
                    kept.strict = Some(side);
                }
            }
            if later.official.is_some() {
                kept.official = later.official.take();
            }
        }
        same
    });
    all
}
