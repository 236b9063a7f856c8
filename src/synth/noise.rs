//! The troubles that judges' replies are known to have, each a change to a clean reply.

use crate::random::Random;

/// Stands for a lone surrogate in a text that will be escaped.
pub(super) const LONE_SURROGATE: char = '\u{fffe}';

/// A reply in parts, so that noise can change one.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub think: String,
    /// Capability, facet, JSON of the entry.
    pub cells: Vec<(String, String, String)>,
}

/// The text of a reply, `None` for a null one.
pub(super) type Reply = Option<String>;

/// A clean reply.
pub(super) fn clean(draft: &Draft) -> String {
    format!("<think>\n{}\n</think>\n\n{}", draft.think, nested(&draft.cells))
}

fn nested(cells: &[(String, String, String)]) -> String {
    let mut out = String::from("{");
    let mut open: Option<&str> = None;
    for (capability, facet, entry) in cells {
        if open == Some(capability) {
            out += ", ";
        } else {
            out += if open.is_some() { "}, " } else { "" };
            out += &format!("{}: {{", quoted(capability));
            open = Some(capability);
        }
        out += &format!("{}: {entry}", quoted(facet));
    }
    out += if open.is_some() { "}}" } else { "}" };
    out
}

fn flat(cells: &[(String, String, String)]) -> String {
    let members: Vec<_> = cells.iter().map(|(_, facet, entry)| format!("{}: {entry}", quoted(facet))).collect();
    format!("{{{}}}", members.join(", "))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A reply with one trouble.
pub(super) fn noisy(mut draft: Draft, random: &mut Random) -> Reply {
    const ENTRIES: [&str; 15] = [
        r#"{"score": "n/a"}"#,
        r#"{"score": null}"#,
        r#"{"score": ""}"#,
        r#"{"score": 1.0}"#,
        r#"{"score": 3}"#,
        r#"{"score": -1}"#,
        r#"{"score": NaN}"#,
        r#"{"score": Infinity}"#,
        r#"{"rationale": "could not evaluate"}"#,
        r#"{"score": "2"}"#,
        r#"{"score": "2 (Excel)"}"#,
        r#"{"score": 1.7}"#,
        r#"{"score": true}"#,
        r#"{"score": 1, "score": 2}"#,
        "2",
    ];
    let wrapped = |draft: &Draft, verdict: &str| format!("<think>\n{}\n</think>\n\n{verdict}", draft.think);
    let object = nested(&draft.cells);
    let at = random.below(draft.cells.len().max(1));
    Some(match random.below(20) {
        0 => wrapped(&draft, &format!("```json\n{object}\n```")),
        1 => format!("<think>\n{}\nperhaps {object}", draft.think),
        2 => format!("{}\n</think>\n{object}", draft.think),
        3 => wrapped(&draft, "I cannot help with that."),
        4 => wrapped(&draft, &format!("Notes {{see below}} then {object}")),
        5 => wrapped(&draft, &format!("{}}},}}}}", object.trim_end_matches('}'))),
        6 => format!("{object}</think>"),
        7 => return None,
        8 => "  \n".into(),
        9 => wrapped(&draft, &flat(&draft.cells)),
        10 => {
            draft.cells.push(("Vibes".into(), "Cool".into(), r#"{"score": 2}"#.into()));
            clean(&draft)
        }
        11 => {
            let home = draft.cells[at].0.clone();
            let cell = (home, "confidence".to_owned(), "1".to_owned());
            draft.cells.insert(at + 1, cell);
            clean(&draft)
        }
        12 => {
            // A facet under a capability that is not its own.
            draft.cells[at].0 = draft.cells[0].0.clone();
            clean(&draft)
        }
        13 => {
            draft.think.push(LONE_SURROGATE);
            clean(&draft)
        }
        14 => {
            for cell in draft.cells.iter_mut().filter(|cell| cell.1 == "Feature Matching") {
                (cell.0, cell.1) = ("Feature Mapping".into(), "Feature Mapping".into());
            }
            clean(&draft)
        }
        _ => {
            if let Some(cell) = draft.cells.get_mut(at) {
                cell.2 = ENTRIES[random.below(ENTRIES.len())].to_owned();
            }
            clean(&draft)
        }
    })
}
