//! Counts of things worth telling about a source, bounded however hostile the source is.

use std::collections::BTreeMap;
use std::collections::btree_map::Iter;

use serde::{Deserialize, Serialize};

/// Different notes of a source; further ones are counted together.
const MOST: usize = 200;
/// Characters of a note.
const LONGEST: usize = 200;

/// Counts by what was met.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Notes(BTreeMap<String, u64>);

impl Notes {
    /// Counts `count` more of something.
    pub fn add(&mut self, note: &str, count: u64) {
        if count == 0 {
            return;
        }
        let note: String = note.chars().take(LONGEST).collect();
        let known = self.0.len() < MOST || self.0.contains_key(&note);
        *self.0.entry(if known { note } else { "further notes, not listed".into() }).or_default() += count;
    }

    /// Counts one of many things of a kind: the kind cannot crowd other notes out.
    pub fn add_listed(&mut self, kind: &str, name: &str, count: u64) {
        let note = format!("{kind}{name}");
        let known =
            self.0.contains_key(&note) || self.0.keys().filter(|known| known.starts_with(kind)).count() < MOST / 2;
        self.add(if known { &note } else { "further names, not listed" }, count);
    }

    /// Adds all counts of another one.
    pub fn merge(&mut self, other: &Self) {
        other.iter().for_each(|(note, count)| self.add(note, *count));
    }

    /// Whether nothing was met.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The notes in order.
    pub fn iter(&self) -> Iter<'_, String, u64> {
        self.0.iter()
    }

    /// Takes out the notes that begin so; gives what follows.
    pub fn take_prefixed(&mut self, prefix: &str) -> Vec<String> {
        let taken = self.0.extract_if(.., |note, _| note.starts_with(prefix));
        taken.map(|(note, _)| note[prefix.len()..].to_owned()).collect()
    }
}
