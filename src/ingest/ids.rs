//! Which prompts a source is about, in few words.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Ranges that are kept; of a source with more gaps only the ends are.
const MOST: usize = 100;

/// A set of IDs as ranges, both ends included.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ids {
    /// How many there are.
    pub count: u64,
    ranges: Vec<(i64, i64)>,
}

impl FromIterator<i64> for Ids {
    fn from_iter<I: IntoIterator<Item = i64>>(ids: I) -> Self {
        Self::joined(ids.into_iter().map(|id| (id, id)).collect())
    }
}

impl Ids {
    /// All IDs of several sets.
    pub fn union<'a>(sets: impl Iterator<Item = &'a Self>) -> Self {
        Self::joined(sets.flat_map(|set| set.ranges.iter().copied()).collect())
    }

    fn joined(mut all: Vec<(i64, i64)>) -> Self {
        all.sort_unstable();
        let mut ranges: Vec<(i64, i64)> = Vec::new();
        for (first, last) in all {
            match ranges.last_mut() {
                Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                _ => ranges.push((first, last)),
            }
        }
        let count = ranges.iter().map(|(first, last)| last.abs_diff(*first).saturating_add(1));
        Self { count: count.fold(0, u64::saturating_add), ranges }
    }

    /// The set for a manifest: with very many gaps, only the count and both ends.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        if let (true, Some((first, _)), Some((_, last))) =
            (self.ranges.len() > MOST, self.ranges.first(), self.ranges.last())
        {
            self.ranges = vec![(*first, *last)];
        }
        self
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

/// `1 to 500, 502`; `300 between 1 and 90000` if the gaps were too many.
impl fmt::Display for Ids {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [(first, last)] = self.ranges[..]
            && last.abs_diff(first).saturating_add(1) != self.count
        {
            return write!(f, "{} between {first} and {last}", self.count);
        }
        for (place, (first, last)) in self.ranges.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            match first == last {
                true => write!(f, "{comma}{first}")?,
                false => write!(f, "{comma}{first} to {last}")?,
            }
        }
        Ok(())
    }
}
