//! What differs between two snapshots: how they were made, from what, and row by row.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Snapshot, SnapshotManifest, SnapshotTable};
use crate::error::{Error, ErrorKind, Result};
use crate::grid::{Datum, Grid};

/// What a difference is about, in the order of telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Protocol, parameters, versions.
    Identity,
    /// Files that were scored.
    Inputs,
    /// Queries.
    Sql,
    /// Tables and columns that only one has.
    Tables,
    /// Rows and cells of result tables.
    Rows,
    /// Rows and cells of the ledger.
    Ledger,
    /// Rows and cells of the judge's health.
    JudgeHealth,
}

impl Section {
    /// As written in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Inputs => "inputs",
            Self::Sql => "sql",
            Self::Tables => "tables",
            Self::Rows => "rows",
            Self::Ledger => "ledger",
            Self::JudgeHealth => "judge_health",
        }
    }

    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Identity, Self::Inputs, Self::Sql, Self::Tables, Self::Rows, Self::Ledger, Self::JudgeHealth];
}

/// What happened to a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Only the later one has it.
    Added,
    /// Only the earlier one has it.
    Removed,
    /// Both have it, and it differs.
    Changed,
}

impl Kind {
    /// As written in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// What it is about.
    pub section: Section,
    /// What happened.
    pub kind: Kind,
    /// The table, file or setting.
    pub what: String,
    /// The row, by its key.
    pub row: String,
    /// The column.
    pub column: String,
    /// What it was.
    pub before: Value,
    /// What it is.
    pub after: Value,
    /// By how much, for numbers.
    pub change: Option<f64>,
}

impl Difference {
    fn new(section: Section, kind: Kind, what: impl Into<String>, before: Value, after: Value) -> Self {
        let (row, column) = (String::new(), String::new());
        Self { section, kind, what: what.into(), row, column, before, after, change: None }
    }
}

/// Compares two snapshots of one dataset. Numbers that are at most `tolerance` apart are equal.
pub fn diff(before: &Snapshot, after: &Snapshot, tolerance: f64) -> Result<Vec<Difference>> {
    let (a, b) = (&before.manifest, &after.manifest);
    if a.dataset != b.dataset {
        return Err(Error::new(ErrorKind::Usage, format!("a snapshot of {} and one of {}", a.dataset, b.dataset))
            .hint("two snapshots of one dataset can be compared"));
    }
    let mut all = identity(a, b);
    all.extend(maps(Section::Inputs, &inputs(a, b), &inputs(b, a)));
    let queries = |manifest: &SnapshotManifest| -> BTreeMap<String, Value> {
        manifest.sql_sha256.iter().map(|(path, digest)| (path.clone(), json!(digest))).collect()
    };
    all.extend(maps(Section::Sql, &queries(a), &queries(b)));
    let tables = |manifest: &SnapshotManifest| -> BTreeMap<String, Value> {
        manifest.tables.iter().map(|table| (table.name.clone(), json!(table.rows))).collect()
    };
    let presence = maps(Section::Tables, &tables(a), &tables(b));
    all.extend(presence.into_iter().filter(|difference| difference.kind != Kind::Changed));
    for table in &a.tables {
        let Some(other) = b.tables.iter().find(|other| other.name == table.name) else { continue };
        let columns = |table: &SnapshotTable| -> BTreeMap<String, Value> {
            let named = table.columns.iter().map(|column| (column.name.clone(), json!(column.column_type.name())));
            named.collect()
        };
        for column in maps(Section::Tables, &columns(table), &columns(other)) {
            all.push(Difference { what: table.name.clone(), column: column.what.clone(), ..column });
        }
        if table.key != other.key {
            // Rows by other keys are other rows.
            let (before, after) = (json!(table.key.join(", ")), json!(other.key.join(", ")));
            let changed = Difference::new(Section::Tables, Kind::Changed, table.name.as_str(), before, after);
            all.push(Difference { column: "(key)".into(), ..changed });
        } else if table.rows_sha256 != other.rows_sha256 {
            all.extend(rows(before, after, table, other, tolerance)?);
        }
    }
    all.sort_by_key(|difference| difference.section);
    Ok(all)
}

fn maps(section: Section, before: &BTreeMap<String, Value>, after: &BTreeMap<String, Value>) -> Vec<Difference> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let one = |name: &String| {
        let difference =
            |kind, a: &Value, b: &Value| Difference::new(section, kind, name.as_str(), a.clone(), b.clone());
        match (before.get(name), after.get(name)) {
            (Some(a), None) => Some(difference(Kind::Removed, a, &Value::Null)),
            (None, Some(b)) => Some(difference(Kind::Added, &Value::Null, b)),
            (Some(a), Some(b)) if a != b => Some(difference(Kind::Changed, a, b)),
            _ => None,
        }
    };
    names.into_iter().filter_map(one).collect()
}

fn identity(a: &SnapshotManifest, b: &SnapshotManifest) -> Vec<Difference> {
    let named = |manifest: &SnapshotManifest| -> BTreeMap<String, Value> {
        let mut named = BTreeMap::from([
            ("id".to_owned(), json!(manifest.id)),
            ("protocol".to_owned(), json!(manifest.protocol)),
            ("status".to_owned(), json!(manifest.status)),
            ("metric_version".to_owned(), json!(manifest.metric_version)),
            ("tool".to_owned(), json!(manifest.tool)),
            ("pipeline".to_owned(), json!(manifest.pipeline)),
            ("pipeline_sha256".to_owned(), json!(manifest.pipeline_sha256)),
        ]);
        let parameters = manifest.parameters.iter().map(|(name, value)| (format!("parameter {name}"), json!(value)));
        named.extend(parameters);
        if let Some(intervals) = &manifest.intervals {
            named.insert("intervals".to_owned(), json!(intervals));
        }
        named
    };
    maps(Section::Identity, &named(a), &named(b))
}

/// Files by their names in the inputs, with what is in them; those of which the other snapshot has the same bytes are no difference, whatever
/// their names.
fn inputs(manifest: &SnapshotManifest, other: &SnapshotManifest) -> BTreeMap<String, Value> {
    let is_shared = |sha256: &String| other.inputs.iter().any(|input| input.sha256 == *sha256);
    let named = manifest.inputs.iter().filter(|input| !is_shared(&input.sha256)).map(|input| {
        let uri = input.uris.first().cloned().unwrap_or_default();
        (uri, json!({ "sha256": input.sha256, "records": input.records, "rejected": input.rejected }))
    });
    named.collect()
}

/// Rows by their key, and cells of rows that both have.
fn rows(
    before: &Snapshot,
    after: &Snapshot,
    table: &SnapshotTable,
    other: &SnapshotTable,
    tolerance: f64,
) -> Result<Vec<Difference>> {
    let section = match table.name.as_str() {
        "ledger" => Section::Ledger,
        "judge_health" => Section::JudgeHealth,
        _ => Section::Rows,
    };
    let key = |row: &BTreeMap<String, Datum>| -> Vec<String> {
        other.key.iter().map(|column| row.get(column).map(Datum::text).unwrap_or_default()).collect()
    };
    let mut earlier: BTreeMap<Vec<String>, BTreeMap<String, Datum>> =
        Grid::of(before.rows(&table.name, usize::MAX)?)?.rows.into_iter().map(|row| (key(&row), row)).collect();
    let new = |kind, key: &[String]| {
        let named: Vec<&str> = key.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        let mut one = Difference::new(section, kind, table.name.as_str(), Value::Null, Value::Null);
        one.row = named.join(" / ");
        one
    };
    let mut all = Vec::new();
    for batch in after.rows(&table.name, usize::MAX)? {
        for row in Grid::of([batch])?.rows {
            let key = key(&row);
            let Some(was) = earlier.remove(&key) else {
                all.push(new(Kind::Added, &key));
                continue;
            };
            for column in &other.columns {
                let (Some(a), Some(b)) = (was.get(&column.name), row.get(&column.name)) else { continue };
                let change = a.number().zip(b.number()).map(|(a, b)| b - a);
                let same = a == b || change.is_some_and(|change| change.abs() <= tolerance);
                if !same {
                    let column = column.name.clone();
                    all.push(Difference {
                        column,
                        before: value(a),
                        after: value(b),
                        change,
                        ..new(Kind::Changed, &key)
                    });
                }
            }
        }
    }
    all.extend(earlier.keys().map(|key| new(Kind::Removed, key)));
    Ok(all)
}

fn value(datum: &Datum) -> Value {
    match datum {
        Datum::Text(text) => json!(text),
        Datum::Number(number) => json!(number),
        Datum::Null => Value::Null,
    }
}
