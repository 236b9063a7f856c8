//! Published tables: whether a snapshot gives their figures, by which other rule it would, and whether they are consistent in
//! themselves.

mod cells;
mod consistency;
mod entries;
mod printed;
mod rules;
mod table;

pub use cells::{Cell, Compared, State, compare};
pub use consistency::{Checked, Fault, check};
pub use entries::{entries_for, not_compared};
pub use printed::Printed;
pub use rules::{Rules, explain};
pub use table::{Names, PublishedTable, heading, require_entries};
