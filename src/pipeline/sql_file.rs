//! A SQL file: a header of `-- key: value` lines and one SELECT.

use crate::error::{Error, ErrorKind, Result};

/// What becomes of a query's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Nothing is kept; steps that read it run it.
    View,
    /// Kept in memory for later steps.
    Memory,
    /// A result table of the snapshot.
    Table,
    /// There must be none.
    Check,
    /// One row, told to whoever reads the numbers.
    Finding,
    /// Shown to a person.
    Explore,
    /// The rows of a stored table that were not set aside.
    Filter,
    /// Asked when sources are published.
    Lake,
    /// Values that intervals and comparisons are drawn from.
    Sample,
    /// Figures of a published table with the bounds that its other figures set.
    Consistency,
    /// Values that a gate holds to its bound.
    Gate,
}

/// A parsed file.
#[derive(Debug, Clone)]
pub struct SqlFile {
    /// Where it was read from.
    pub path: String,
    /// Name of the query.
    pub name: String,
    /// The question it answers.
    pub question: String,
    /// What one row is.
    pub grain: String,
    /// Columns that identify a row.
    pub key: Vec<String>,
    /// What becomes of its rows.
    pub output: Output,
    /// The whole text, header included.
    pub text: String,
}

impl SqlFile {
    /// Parses the header; unknown, missing and repeated keys are errors.
    pub fn parse(path: &str, text: String) -> Result<Self> {
        const KEYS: [&str; 5] = ["name", "question", "grain", "key", "output"];
        let invalid =
            |line: usize, message: String| Error::new(ErrorKind::Config, message).with("file", path).with("line", line);
        let mut values: [Option<String>; 5] = Default::default();
        for (number, line) in (1..).zip(text.lines()) {
            let Some((key, value)) = line.strip_prefix("-- ").and_then(|rest| rest.split_once(": ")) else {
                // The header ends where the keys are complete; what follows is a comment or the query.
                break;
            };
            if values.iter().all(Option::is_some) {
                break;
            }
            let Some(at) = KEYS.iter().position(|known| *known == key) else {
                return Err(
                    invalid(number, format!("unknown header key `{key}`")).hint(format!("keys: {}", KEYS.join(", ")))
                );
            };
            if values[at].replace(value.trim().to_owned()).is_some() {
                return Err(invalid(number, format!("header key `{key}` stands twice")));
            }
        }
        let missing: Vec<_> =
            KEYS.iter().zip(&values).filter(|(_, value)| value.is_none()).map(|(key, _)| *key).collect();
        let [Some(name), Some(question), Some(grain), Some(key), Some(output)] = values else {
            return Err(invalid(1, format!("the header lacks {}", missing.join(", ")))
                .hint("the file starts with lines `-- key: value`"));
        };
        let output = match output.as_str() {
            "view" => Output::View,
            "memory" => Output::Memory,
            "table" => Output::Table,
            "check" => Output::Check,
            "finding" => Output::Finding,
            "explore" => Output::Explore,
            "filter" => Output::Filter,
            "lake" => Output::Lake,
            "sample" => Output::Sample,
            "consistency" => Output::Consistency,
            "gate" => Output::Gate,
            other => {
                return Err(invalid(1, format!("unknown output `{other}`"))
                    .hint("view, memory, table, check, finding, explore, filter, lake, sample, consistency or gate"));
            }
        };
        let key = key.split(',').map(|column| column.trim().to_owned()).collect();
        Ok(Self { path: path.into(), name, question, grain, key, output, text })
    }
}
