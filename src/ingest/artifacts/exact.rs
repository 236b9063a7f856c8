//! The exact reading of an assessor's text, as the benchmark's checker has it: the last `\boxed{…}` is an object of just the
//! form that was asked for.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{DEFORMITY, LabelSet, NORMAL, Outcome, Reading, Taxonomy, boxed};
use crate::ingest::members::shown;
use crate::python::json::{self, Node, Value};
use crate::python::strip;

/// Reads a text. `{"Whether Normal": true}` alone, or `{"Whether Normal": false, "Type of Deformity": {…}}` with known level-2
/// labels as keys and lists of their own level-3 labels as values; any value for a level-2 label without those.
pub fn read(text: Option<&str>, taxonomy: &Taxonomy) -> Reading {
    let Some(text) = text else { return Reading::failed(Outcome::Missing, "no text") };
    if strip(text).is_empty() {
        return Reading::failed(Outcome::ParseFailed, "an empty text");
    }
    let Some(content) = boxed::last(text, "\\boxed") else {
        return Reading::failed(Outcome::ParseFailed, "no boxed answer");
    };
    let members = match json::parse(content).map(|node| node.value) {
        Ok(Value::Object(members)) => last_wins(members),
        Ok(other) => {
            return Reading::failed(Outcome::ParseFailed, format!("the boxed answer is {}, no object", other.kind()));
        }
        Err(error) => {
            return Reading::failed(Outcome::ParseFailed, format!("the boxed answer is not JSON: {}", error.what));
        }
    };
    match object(&members, taxonomy) {
        Ok(labels) => Reading::ok(labels),
        Err(reason) => Reading::failed(Outcome::Invalid, reason),
    }
}

/// The last member of each name, in order of the names.
pub(super) fn last_of_each<'n, 'a>(members: &'n [(Cow<'a, str>, Node<'a>)]) -> BTreeMap<&'n str, &'n Node<'a>> {
    members.iter().map(|(name, node)| (name.as_ref(), node)).collect()
}

/// Members as Python's dictionaries hold them.
pub(super) fn last_wins<'a>(members: Vec<(Cow<'a, str>, Node<'a>)>) -> BTreeMap<Cow<'a, str>, Value<'a>> {
    members.into_iter().map(|(name, node)| (name, node.value)).collect()
}

fn object(members: &BTreeMap<Cow<'_, str>, Value<'_>>, taxonomy: &Taxonomy) -> Result<LabelSet, String> {
    let is_normal = match members.get(NORMAL) {
        Some(Value::Bool(is_normal)) => *is_normal,
        Some(other) => return Err(format!("`{NORMAL}` is {}, no boolean", other.kind())),
        None => return Err(format!("no `{NORMAL}`")),
    };
    let allowed: &[&str] = if is_normal { &[NORMAL] } else { &[NORMAL, DEFORMITY] };
    if let Some(name) = members.keys().find(|name| !allowed.contains(&name.as_ref())) {
        return Err(format!("unexpected key `{}`", shown(name)));
    }
    let mut labels = LabelSet::default();
    if is_normal {
        return Ok(labels);
    }
    labels = LabelSet::ARTIFACT;
    let named = match members.get(DEFORMITY) {
        Some(Value::Object(named)) => named,
        Some(other) => return Err(format!("`{DEFORMITY}` is {}, no object", other.kind())),
        None => return Err(format!("no `{DEFORMITY}`")),
    };
    for (name, node) in last_of_each(named) {
        let Some(place) = taxonomy.level_2(name) else {
            return Err(format!("unknown level-2 label `{}`", shown(name)));
        };
        labels.insert(place);
        if !taxonomy.has_level_3(place) {
            continue;
        }
        let Value::Array(items) = &node.value else {
            return Err(format!("`{name}` is {}, no list", node.value.kind()));
        };
        for item in items {
            let Value::String(item) = &item.value else {
                return Err(format!("`{name}` lists {}", item.value.kind()));
            };
            match taxonomy.level_3(item).filter(|child| taxonomy.parents[*child] == place) {
                Some(child) => labels.insert(child),
                None => return Err(format!("`{}` is no level-3 label of `{name}`", shown(item))),
            }
        }
    }
    Ok(labels)
}
