//! What a reading finds in a reply: cells with their state.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::python::json::{Node, Value};
use crate::schema::taxonomy::Pillar;

/// State of a judged cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// A value of the scale.
    Ok,
    /// The judge said "not applicable".
    Na,
    /// No value was given.
    Missing,
    /// A value outside the scale.
    Invalid,
}

impl State {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Na => "na",
            Self::Missing => "missing",
            Self::Invalid => "invalid",
        }
    }
}

/// State and, where it is ok, the value 0, 1 or 2.
pub type Judged = (State, Option<i32>);

/// The judged value of a number on the scale, `Invalid` off it.
pub(super) fn on_scale(value: i64) -> Judged {
    match value {
        0..=2 => (State::Ok, Some(value as i32)),
        _ => (State::Invalid, None),
    }
}

/// One reading's side of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side<'a> {
    /// The capability the entry counts for.
    pub capability: Cow<'a, str>,
    /// The facet the entry counts for.
    pub facet: Cow<'a, str>,
    /// `None` where another entry of the same reply holds this cell.
    pub judged: Option<Judged>,
}

/// A cell as one reading found it.
#[derive(Debug, Clone)]
pub(super) struct Cell<'a> {
    pub capability_read: Cow<'a, str>,
    pub facet_read: Cow<'a, str>,
    pub raw: &'a str,
    pub in_rubric: bool,
    pub side: Side<'a>,
}

impl Cell<'_> {
    /// Whether the facet or the capability is written as one of the documented aliases.
    pub(super) fn is_aliased(&self, pillar: &Pillar) -> bool {
        pillar.alias(&self.facet_read).is_some() || pillar.alias(&self.capability_read).is_some()
    }
}

/// Whether a reply could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It holds an object.
    Ok,
    /// There is no reply, or a blank one.
    Missing,
    /// It holds no usable object.
    ParseFailed,
}

impl Outcome {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Missing => "missing",
            Self::ParseFailed => "parse_failed",
        }
    }
}

/// How one reading fared with a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Whether it could be read.
    pub outcome: Outcome,
    /// Why not.
    pub reason: Option<&'static str>,
    /// What was done to the text so that it could, in a fixed order.
    pub repairs: Vec<&'static str>,
}

impl Reading {
    pub(super) fn missing() -> Self {
        Self { outcome: Outcome::Missing, reason: None, repairs: Vec::new() }
    }

    pub(super) fn failed(reason: &'static str) -> Self {
        Self { outcome: Outcome::ParseFailed, reason: Some(reason), repairs: Vec::new() }
    }
}

/// Members of an object.
pub(super) type Members<'a> = [(Cow<'a, str>, Node<'a>)];

/// The members of a value that is an object.
pub(super) fn object<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Members<'a>> {
    match &node.value {
        Value::Object(members) => Some(members),
        _ => None,
    }
}

/// Finds, entry by entry, which earlier one landed on the same capability and facet. Replies have some dozens of entries,
/// for which looking back is quicker than hashing; a hostile one may have millions.
#[derive(Debug, Default)]
pub(super) struct Landings {
    places: HashMap<(String, String), usize>,
}

impl Landings {
    const FEW: usize = 48;

    /// The latest entry before `at` on the same cell.
    pub(super) fn before(&mut self, cells: &[Cell<'_>], at: usize) -> Option<usize> {
        let side = &cells[at].side;
        if cells.len() <= Self::FEW {
            return cells[..at]
                .iter()
                .rposition(|other| other.side.facet == side.facet && other.side.capability == side.capability);
        }
        self.places.insert((side.capability.to_string(), side.facet.to_string()), at)
    }
}
