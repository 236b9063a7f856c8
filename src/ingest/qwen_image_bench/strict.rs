//! The strict reading: repairs that lose nothing, the rubric's own places, and no guess about a value.

use std::borrow::Cow;

use super::cell::{Cell, Judged, Landings, Members, Reading, Side, State, object, on_scale};
use crate::python;
use crate::python::json::{Node, Parser, Value};
use crate::schema::taxonomy::Pillar;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";
const NOT_CLOSED: &str = "reasoning not closed";

/// Reads the object of a reply that does not parse as it stands; `text` is the whole reply, `tail` what follows the last
/// closing think tag.
pub(super) fn repair<'a>(
    text: &'a str,
    tail: &'a str,
    pillar: &Pillar,
    reading: &mut Reading,
) -> Result<Node<'a>, &'static str> {
    if !tail.is_empty() {
        return search(tail, pillar, reading, true);
    }
    // Only a closing tag stands at the end: the verdict may stand before it.
    let mut before = python::strip(text);
    while let Some(rest) = before.strip_suffix(CLOSE) {
        before = python::strip(rest);
    }
    let verdict = before.rfind(CLOSE).map_or(before, |at| &before[at + CLOSE.len()..]);
    // Reasoning whose opening tag the server left out also ends so, hence no prose here.
    match search(python::strip(verdict), pillar, reading, false) {
        Ok(node) => {
            reading.repairs.push("closing_tag");
            Ok(node)
        }
        Err(_no_verdict) => Err("nothing after the reasoning"),
    }
}

/// The first balanced object that holds a known capability or facet.
fn search<'a>(tail: &'a str, pillar: &Pillar, reading: &mut Reading, prose: bool) -> Result<Node<'a>, &'static str> {
    // Braces that open nothing are tried one by one; a text made of them must not take quadratic time.
    let mut budget = 16 * tail.len() + (64 << 10);
    let mut from = 0;
    while let Some(offset) = tail[from..].find('{') {
        let start = from + offset;
        if tail[from..start].contains(OPEN) {
            return Err(NOT_CLOSED);
        }
        let mut parser = Parser::lenient(tail, start);
        match parser.node() {
            Ok(node) if holds_known(&node, pillar) => {
                let (before, after) = (&tail[..start], &tail[parser.position()..]);
                return accept(node, before, after, parser.commas_dropped, reading, prose);
            }
            Ok(_other) => from = parser.position(),
            // What stands inside an object that never closes is part of a verdict, and which part says nothing about the rest.
            Err(broken) if broken.at == tail.len() => return Err("the object is cut short"),
            Err(broken) => {
                from = start + 1;
                budget = budget.saturating_sub(broken.at - start);
                if budget == 0 {
                    return Err("no usable object within the search limit");
                }
            }
        }
    }
    Err(if tail[from..].contains(OPEN) { NOT_CLOSED } else { "no usable JSON object" })
}

fn accept<'a>(
    node: Node<'a>,
    before: &str,
    after: &str,
    commas_dropped: u32,
    reading: &mut Reading,
    prose: bool,
) -> Result<Node<'a>, &'static str> {
    let (mut before, mut after) = (python::strip(before), python::strip(after));
    let mut fenced = false;
    if let Some(at) = before.rfind("```")
        && before[at + 3..].chars().all(|c| c.is_ascii_alphanumeric())
    {
        (before, fenced) = (python::strip(&before[..at]), true);
    }
    if let Some(rest) = after.strip_prefix("```") {
        (after, fenced) = (python::strip(rest), true);
    }
    let has_prose = !before.is_empty() || !after.is_empty();
    if has_prose && !prose {
        return Err("prose before a closing tag");
    }
    for (kind, found) in [("fence", fenced), ("prose", has_prose), ("trailing_comma", commas_dropped > 0)] {
        if found {
            reading.repairs.push(kind);
        }
    }
    Ok(node)
}

fn holds_known(node: &Node<'_>, pillar: &Pillar) -> bool {
    let known = |name: &str| pillar.facet(name).is_some() || pillar.has_capability(name);
    object(node).is_some_and(|members| {
        members.iter().any(|(name, inner)| {
            known(name)
                || object(inner).is_some_and(|facets| facets.iter().any(|(name, _)| pillar.facet(name).is_some()))
        })
    })
}

/// The cells of an object; entries that land on one facet make one cell.
pub(super) fn cells<'a>(root: &Node<'a>, pillar: &'a Pillar, reading: &mut Reading) -> Vec<Cell<'a>> {
    let Some(members) = object(root) else { return Vec::new() };
    let mut cells = Vec::new();
    for (name, node) in members {
        match object(node) {
            Some(inner) if inner.iter().any(|(key, _)| key == "score") => {
                cells.push(cell(Cow::Borrowed(""), name, node, pillar));
            }
            Some(inner) => cells.extend(inner.iter().map(|(facet, node)| cell(name.clone(), facet, node, pillar))),
            None if pillar.facet(name).is_some() => cells.push(cell(Cow::Borrowed(""), name, node, pillar)),
            None => {}
        }
    }
    if cells.iter().any(|cell| cell.is_aliased(pillar)) {
        reading.repairs.push("alias");
    }
    merge_landings(&mut cells);
    cells
}

/// The last entry on a cell holds it: with the common value, or invalid where the values differ.
fn merge_landings(cells: &mut [Cell<'_>]) {
    let mut landings = Landings::default();
    for at in 0..cells.len() {
        if let Some(earlier) = landings.before(cells, at) {
            let before = cells[earlier].side.judged.take();
            if before != cells[at].side.judged {
                cells[at].side.judged = Some((State::Invalid, None));
            }
        }
    }
}

fn cell<'a>(capability_read: Cow<'a, str>, facet_read: &Cow<'a, str>, node: &Node<'a>, pillar: &'a Pillar) -> Cell<'a> {
    let known = pillar.facet(facet_read);
    let side = Side {
        capability: known.map_or_else(|| capability_read.clone(), |known| Cow::Borrowed(known.capability)),
        facet: known.map_or_else(|| facet_read.clone(), |known| Cow::Borrowed(known.facet)),
        judged: Some(object(node).map_or_else(|| value_of(node), score_of)),
    };
    Cell { capability_read, facet_read: facet_read.clone(), raw: node.text, in_rubric: known.is_some(), side }
}

fn score_of(members: &Members<'_>) -> Judged {
    let mut scores = members.iter().filter(|(name, _)| name == "score").map(|(_, node)| value_of(node));
    let Some(first) = scores.next() else { return (State::Missing, None) };
    if scores.all(|other| other == first) { first } else { (State::Invalid, None) }
}

fn value_of(node: &Node<'_>) -> Judged {
    match &node.value {
        Value::Null => (State::Missing, None),
        Value::Int(text) => python::int(text).map_or((State::Invalid, None), on_scale),
        Value::Float(value) if value.fract() == 0.0 => on_scale(*value as i64),
        Value::Float(_) | Value::Bool(_) | Value::Array(_) | Value::Object(_) => (State::Invalid, None),
        Value::String(text) => match python::strip(text) {
            "" => (State::Missing, None),
            "0" => on_scale(0),
            "1" => on_scale(1),
            "2" => on_scale(2),
            other if other.eq_ignore_ascii_case("N/A") => (State::Na, None),
            _ => (State::Invalid, None),
        },
    }
}
