//! The labels that people gave an image: every one is kept, whatever is odd about it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::exact::{last_of_each, last_wins};
use super::{ABNORMALITY, DEFORMITY, LabelSet, NORMAL, Outcome, Reading, Taxonomy};
use crate::ingest::Notes;
use crate::ingest::members::shown;
use crate::python::json::{self, Value};
use crate::python::strip;

/// One label of an image as it was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Written {
    /// `l2` or `l3`.
    pub level: &'static str,
    /// The level-2 label it stands under, itself for one of level 2.
    pub l2: String,
    /// The label.
    pub label: String,
    /// ok, or what is odd about it.
    pub state: &'static str,
}

/// What people said of an image.
#[derive(Debug, Clone)]
pub struct Gold {
    /// Whether it could be read, and the known labels.
    pub reading: Reading,
    /// All labels, sorted.
    pub written: Vec<Written>,
}

/// Reads a `response`: a JSON object.
pub fn read(text: Option<&str>, taxonomy: &Taxonomy, notes: &mut Notes) -> Gold {
    let failed = |outcome, reason: String| Gold { reading: Reading::failed(outcome, reason), written: Vec::new() };
    let Some(text) = text.filter(|text| !strip(text).is_empty()) else {
        return failed(Outcome::Missing, "no labels".into());
    };
    let members = match json::parse(text).map(|node| node.value) {
        Ok(Value::Object(members)) => last_wins(members),
        Ok(other) => return failed(Outcome::ParseFailed, format!("the labels are {}, no object", other.kind())),
        Err(error) => {
            return failed(
                Outcome::ParseFailed,
                format!("the labels are not JSON: {} at byte {}", error.what, error.at + 1),
            );
        }
    };
    let is_normal = match members.get(NORMAL) {
        Some(Value::Bool(is_normal)) => *is_normal,
        Some(other) => return failed(Outcome::Invalid, format!("`{NORMAL}` is {}, no boolean", other.kind())),
        None => return failed(Outcome::Invalid, format!("no `{NORMAL}`")),
    };
    let mut gold = Gold { reading: Reading::ok(LabelSet::default()), written: Vec::new() };
    if members.keys().any(|name| ![NORMAL, DEFORMITY, ABNORMALITY].contains(&name.as_ref())) {
        notes.add("labels: other keys beside the known ones", 1);
    }
    if is_normal {
        notes.add("labels: types beside `Whether Normal: true`, kept as beside_normal", u64::from(members.len() > 1));
        types(&members, taxonomy, &mut gold.written);
        gold.written.iter_mut().for_each(|written| written.state = "beside_normal");
    } else {
        notes.add("labels under `Type of Abnormality`", u64::from(members.contains_key(ABNORMALITY)));
        types(&members, taxonomy, &mut gold.written);
        notes.add("labels: an artifact without a type", u64::from(gold.written.is_empty()));
        gold.reading.labels = LabelSet::ARTIFACT;
        for written in &gold.written {
            notes.add_listed(
                &format!("labels: {} ", written.state),
                &shown(&written.label),
                u64::from(written.state != "ok"),
            );
            let place =
                if written.level == "l2" { taxonomy.level_2(&written.label) } else { taxonomy.level_3(&written.label) };
            // A label that is said not to be there is not.
            if let Some(place) = place.filter(|_| written.state != "denied") {
                gold.reading.labels.insert(place);
            }
        }
    }
    let before = gold.written.len();
    gold.written.sort();
    gold.written
        .dedup_by(|later, first| (&later.level, &later.l2, &later.label) == (&first.level, &first.l2, &first.label));
    notes.add("labels twice on one image, counted once", (before - gold.written.len()) as u64);
    gold
}

fn types(members: &BTreeMap<Cow<'_, str>, Value<'_>>, taxonomy: &Taxonomy, written: &mut Vec<Written>) {
    for key in [DEFORMITY, ABNORMALITY] {
        let named = match members.get(key) {
            None | Some(Value::Null) => continue,
            Some(Value::Object(named)) => last_of_each(named),
            // Neither an object nor nothing: it is kept as the label it may be meant as.
            Some(Value::String(label)) => {
                let l2 = label.to_string();
                written.push(Written { level: "l2", label: l2.clone(), l2, state: "unknown" });
                continue;
            }
            Some(Value::Array(items)) => {
                written.extend(items.iter().map(|item| {
                    let l2 = item.text.trim_matches('"').to_owned();
                    Written { level: "l2", label: l2.clone(), l2, state: "unknown" }
                }));
                continue;
            }
            Some(other) => {
                let l2 = other.kind().to_owned();
                written.push(Written { level: "l2", label: l2.clone(), l2, state: "unknown" });
                continue;
            }
        };
        for (name, node) in named {
            let place = taxonomy.level_2(name);
            let has_level_3 = place.is_some_and(|place| taxonomy.has_level_3(place));
            let items = match &node.value {
                Value::Array(items) => items.as_slice(),
                _ => &[],
            };
            let state = match (&node.value, place) {
                (Value::Bool(false) | Value::Null, _) => "denied",
                (_, None) => "unknown",
                (Value::Array(_), Some(_)) if !has_level_3 => "list_for_flag",
                (Value::Array(_), Some(_)) => "ok",
                (_, Some(_)) if has_level_3 => "flag_for_list",
                (_, Some(_)) => "ok",
            };
            let l2 = name.to_string();
            written.push(Written { level: "l2", l2: l2.clone(), label: l2.clone(), state });
            for item in items {
                let label = match &item.value {
                    Value::String(label) => label.to_string(),
                    _ => item.text.to_owned(),
                };
                let state = match taxonomy.level_3(&label) {
                    None => "unknown",
                    Some(child) if Some(taxonomy.parents[child]) == place => "ok",
                    Some(_) => "wrong_parent",
                };
                written.push(Written { level: "l3", l2: l2.clone(), label, state });
            }
        }
    }
}
