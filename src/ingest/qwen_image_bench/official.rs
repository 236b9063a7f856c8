//! The official reading: what the benchmark's own script makes of a reply.
//!
//! Kept apart from the strict reading on purpose: it must follow the script also where the script is odd.

use std::borrow::Cow;
use std::collections::HashMap;

use super::cell::{Cell, Judged, Landings, Members, Reading, Side, State, object, on_scale};
use crate::python;
use crate::python::json::{self, Node, Value};
use crate::schema::taxonomy::Pillar;

/// The object that the script scores: the text after the last closing think tag, else its part from the first brace to the
/// last; the second value says whether the braces were needed.
pub(super) fn document<'n, 'a>(
    tail: &'a str,
    direct: Option<&'n Node<'a>>,
    scratch: &'n mut Option<Node<'a>>,
) -> Result<(&'n Node<'a>, bool), &'static str> {
    const NO_OBJECT: &str = "the JSON is no object";
    if let Some(node) = direct {
        return if object(node).is_some() { Ok((node, false)) } else { Err(NO_OBJECT) };
    }
    let (Some(first), Some(last)) = (tail.find('{'), tail.rfind('}')) else {
        return Err("no JSON object");
    };
    if last < first {
        return Err("no JSON object");
    }
    match json::parse(&tail[first..=last]) {
        Ok(node) => Ok((scratch.insert(node), true)),
        Err(_broken) => Err("no JSON between the first and the last brace"),
    }
}

/// The cells of an object, later entries winning over earlier ones on the same cell.
pub(super) fn cells<'a>(root: &Node<'a>, pillar: &'a Pillar, reading: &mut Reading) -> Vec<Cell<'a>> {
    let Some(members) = object(root) else { return Vec::new() };
    let members = python_dict(members);
    let mut cells = Vec::new();
    let flat = members.first().and_then(|(_, node)| object(node)).is_some_and(|inner| get(inner, "score").is_some());
    if flat {
        for (name, node) in members {
            let known = pillar.facet(name);
            let facet = known.map_or_else(|| name.clone(), |known| Cow::Borrowed(known.facet));
            let capability = known.map_or_else(|| facet.clone(), |known| Cow::Borrowed(known.capability));
            cells.push(cell(Cow::Borrowed(""), name, node, known.is_some(), capability, facet));
        }
    } else {
        for (name, node) in members {
            let Some(inner) = object(node) else { continue };
            let home = pillar.alias(name).map_or_else(|| name.clone(), Cow::Borrowed);
            for (facet_name, node) in python_dict(inner) {
                let known = pillar.facet(facet_name);
                let facet = known.map_or_else(|| facet_name.clone(), |known| Cow::Borrowed(known.facet));
                let capability = known.map_or_else(|| home.clone(), |known| Cow::Borrowed(known.capability));
                cells.push(cell(name.clone(), facet_name, node, known.is_some(), capability, facet));
            }
        }
    }
    if cells.iter().any(|cell| cell.is_aliased(pillar)) {
        reading.repairs.push("alias");
    }
    let mut landings = Landings::default();
    for at in 0..cells.len() {
        if let Some(earlier) = landings.before(&cells, at) {
            cells[earlier].side.judged = None;
        }
    }
    cells
}

fn cell<'a>(
    capability_read: Cow<'a, str>,
    facet_read: &Cow<'a, str>,
    node: &Node<'a>,
    in_rubric: bool,
    capability: Cow<'a, str>,
    facet: Cow<'a, str>,
) -> Cell<'a> {
    let value = match object(node) {
        Some(members) => get(members, "score").map_or((State::Missing, None), value_of),
        None => value_of(node),
    };
    Cell {
        capability_read,
        facet_read: facet_read.clone(),
        raw: node.text,
        in_rubric,
        side: Side { capability, facet, judged: Some(value) },
    }
}

/// Python's `int()` of a score, then the scale.
fn value_of(node: &Node<'_>) -> Judged {
    match &node.value {
        Value::Null => (State::Missing, None),
        Value::Bool(value) => on_scale(i64::from(*value)),
        Value::Int(text) => python::int(text).map_or((State::Invalid, None), on_scale),
        Value::Float(value) if value.is_finite() => on_scale(value.trunc() as i64),
        Value::Float(_) | Value::Array(_) | Value::Object(_) => (State::Invalid, None),
        Value::String(text) if text.eq_ignore_ascii_case("N/A") => (State::Na, None),
        Value::String(text) if python::strip(text).is_empty() => (State::Missing, None),
        Value::String(text) => python::int(text).map_or((State::Invalid, None), on_scale),
    }
}

fn get<'n, 'a>(members: &'n Members<'a>, name: &str) -> Option<&'n Node<'a>> {
    members.iter().rev().find(|(key, _)| key == name).map(|(_, node)| node)
}

/// Members as a Python dict holds them: a duplicate key keeps its first place and its last value.
fn python_dict<'n, 'a>(members: &'n Members<'a>) -> Vec<(&'n Cow<'a, str>, &'n Node<'a>)> {
    const FEW: usize = 32;
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut dict: Vec<(&Cow<'a, str>, &Node<'a>)> = Vec::with_capacity(members.len());
    for (name, node) in members {
        let place = match members.len() <= FEW {
            true => dict.iter().position(|(known, _)| *known == name),
            false => places.get(name.as_ref()).copied(),
        };
        match place {
            Some(place) => dict[place].1 = node,
            None => {
                if members.len() > FEW {
                    places.insert(name, dict.len());
                }
                dict.push((name, node));
            }
        }
    }
    dict
}
