//! The keyword reading of an assessor's text, as the authors' script for the label metrics has it: names that occur count,
//! whatever the form.

use super::{LabelSet, Outcome, Reading, Taxonomy, boxed};
use crate::python::strip;

/// Characters at the end of a text that are looked at.
const TAIL: usize = 1000;
/// Characters of the first piece that are looked at for the binary label.
const HEAD: usize = 40;

/// Reads a text: its last 1,000 characters, of those the last balanced boxed content if there is one, else from the first `{` to
/// the last `}`. The first piece before a comma tells normal from artifact; every level-2 label whose name occurs counts, one
/// with level-3 labels only if one of those occurs too.
pub fn read(text: Option<&str>, taxonomy: &Taxonomy) -> Reading {
    let Some(text) = text else { return Reading::failed(Outcome::Missing, "no text") };
    if strip(text).is_empty() {
        return Reading::failed(Outcome::ParseFailed, "an empty text");
    }
    let tail = text.char_indices().rev().nth(TAIL - 1).map_or(text, |(at, _)| &text[at..]);
    let Some(extract) = extract(tail) else {
        return Reading::failed(Outcome::ParseFailed, "no braces at the end of the text");
    };
    let first = extract.split(',').next().unwrap_or(extract).to_lowercase();
    let head: String = first.chars().take(HEAD).collect();
    if head.contains("true") || head.contains("answer") && head.chars().count() < 8 {
        return Reading::ok(LabelSet::default());
    }
    if !head.contains("false") {
        return Reading::failed(Outcome::ParseFailed, "neither true nor false in the first piece");
    }
    let mut labels = LabelSet::ARTIFACT;
    let occurs = |place: usize| extract.contains(taxonomy.labels[place].label.as_str());
    for place in (0..taxonomy.labels.len()).filter(|place| taxonomy.parents[*place] == *place) {
        if !occurs(place) {
            continue;
        }
        let children: Vec<usize> = taxonomy.children(place).filter(|child| occurs(*child)).collect();
        if !children.is_empty() || !taxonomy.has_level_3(place) {
            labels.insert(place);
            children.into_iter().for_each(|child| labels.insert(child));
        }
    }
    Reading::ok(labels)
}

fn extract(tail: &str) -> Option<&str> {
    if tail.contains("boxed{") {
        return boxed::last(tail, "boxed");
    }
    let (first, last) = (tail.find('{')?, tail.rfind('}')?);
    (first < last).then(|| &tail[first..=last])
}
