//! A board for people: beside ranks and scores stands how sure they are.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, Field, Float64Type, Int64Type, Schema, SchemaRef};

use super::samples::pipeline_of;
use crate::cli::Session;
use crate::error::Result;
use crate::pipeline::SampleEntry;
use crate::snapshot::Snapshot;

/// What stands beside an entry.
#[derive(Default)]
struct Sureness {
    ranks: Option<String>,
    group: Option<String>,
    interval: Option<String>,
}

/// Adds the columns `ranks`, `group` and `interval` to the table that a sample ranks, from the snapshot's `standings`; other tables, and
/// those of snapshots without standings, stay as they are.
pub(super) fn with_standings(
    session: &Session,
    snapshot: &Snapshot,
    name: &str,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let pipeline = pipeline_of(session, snapshot)?;
    let ranking = pipeline.samples.into_iter().find(|sample| sample.ranks && sample.table == name);
    let has_standings = snapshot.manifest.tables.iter().any(|table| table.name == "standings");
    let Some(ranking) = ranking.filter(|_| has_standings) else { return Ok((schema, batches)) };
    let batch = concat_batches(&schema, &batches)?;
    let standings = standings(snapshot)?;
    let keys = keys(&batch, ranking.scope_column.as_deref())?;
    let of = |which: fn(&Sureness) -> &Option<String>| -> ArrayRef {
        let text = |key| standings.get(key).and_then(|sureness| which(sureness).clone());
        Arc::new(keys.iter().map(text).collect::<StringArray>())
    };
    let added = [
        ("rank".to_owned(), "ranks", of(|sureness| &sureness.ranks)),
        ("rank".to_owned(), "group", of(|sureness| &sureness.group)),
        (score_column(&ranking), "interval", of(|sureness| &sureness.interval)),
    ];
    let mut fields = Vec::new();
    let mut columns = Vec::new();
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        fields.push(field.as_ref().clone());
        columns.push(Arc::clone(column));
        for (_, name, values) in added.iter().filter(|(behind, ..)| behind == field.name()) {
            fields.push(Field::new(*name, DataType::Utf8, true));
            columns.push(Arc::clone(values));
        }
    }
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns)?;
    Ok((schema, vec![batch]))
}

fn score_column(ranking: &SampleEntry) -> String {
    ranking.column.clone().unwrap_or_else(|| "overall".into())
}

fn texts(batch: &RecordBatch, name: &str) -> Result<Option<StringArray>> {
    let column = batch.column_by_name(name).map(|column| cast(column, &DataType::Utf8)).transpose()?;
    Ok(column.map(|column| column.as_string::<i32>().clone()))
}

/// Scope, model, revision and judge of each row.
fn keys(batch: &RecordBatch, scope: Option<&str>) -> Result<Vec<[String; 4]>> {
    let columns = [scope.unwrap_or(""), "model", "model_revision", "judge"].map(|name| texts(batch, name));
    let [scope, model, revision, judge] = columns;
    let columns = [scope?, model?, revision?, judge?];
    let at = |row: usize| {
        columns.each_ref().map(|column| column.as_ref().map_or_else(String::new, |texts| texts.value(row).to_owned()))
    };
    Ok((0..batch.num_rows()).map(at).collect())
}

fn standings(snapshot: &Snapshot) -> Result<BTreeMap<[String; 4], Sureness>> {
    let mut all = BTreeMap::new();
    for batch in snapshot.rows("standings", usize::MAX)? {
        let batch = batch?;
        let whole = |name: &str| batch.column_by_name(name).map(|column| column.as_primitive::<Int64Type>());
        let double = |name: &str| batch.column_by_name(name).map(|column| column.as_primitive::<Float64Type>());
        let groups = texts(&batch, "rank_group")?;
        for (row, key) in keys(&batch, Some("scope"))?.into_iter().enumerate() {
            let rank = |name| whole(name).filter(|values| values.is_valid(row)).map(|values| values.value(row));
            let bound = |name| double(name).filter(|values| values.is_valid(row)).map(|values| values.value(row));
            let ranks = |(low, high): (i64, i64)| if low == high { low.to_string() } else { format!("{low}–{high}") };
            let interval = |(low, high): (f64, f64)| format!("{low:.2}–{high:.2}");
            let sureness = Sureness {
                ranks: rank("rank_low").zip(rank("rank_high")).map(ranks),
                group: groups.as_ref().filter(|groups| groups.is_valid(row)).map(|groups| groups.value(row).to_owned()),
                interval: bound("low").zip(bound("high")).map(interval),
            };
            all.insert(key, sureness);
        }
    }
    Ok(all)
}
