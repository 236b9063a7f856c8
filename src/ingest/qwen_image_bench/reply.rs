//! One reply under both readings at once.

use std::borrow::Cow;

use super::cell::{Cell, Outcome, Reading, Side, object};
use super::{official, strict};
use crate::python;
use crate::python::json::{self, Node};
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

/// Reads a reply on one pillar; `None` is a reply that is absent or null.
pub fn read<'a>(text: Option<&'a str>, pillar: &'a Pillar) -> Reply<'a> {
    let Some(text) = text.filter(|text| !python::strip(text).is_empty()) else {
        return Reply { strict: Reading::missing(), official: Reading::missing(), entries: Vec::new() };
    };
    let tail = tail(text);
    let direct = json::parse(tail).ok();
    let (official, official_cells) = read_official(tail, direct.as_ref(), pillar);
    let (strict, strict_cells) = read_strict(text, tail, direct.as_ref(), pillar);
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
