//! Small tables that every pipeline and every question sees.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use serde::Deserialize;

use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::lake::session::Engine;
use crate::schema::TableSchema;
use crate::schema::dataset::{Dataset, read_csv};

#[derive(Deserialize)]
struct DisplayName {
    dataset: String,
    model: String,
    display_name: String,
}

/// Registers `display_names` and, where the dataset has one, its `taxonomy`, in the dataset's schema.
pub(crate) fn register(assets: &Assets, engine: &Engine, dataset: &Dataset) -> Result<()> {
    let path = format!("data/taxonomy/{}.csv", dataset.id);
    if assets.list("data/taxonomy", "csv")?.contains(&path) {
        let (schema, batch) = taxonomy(assets, &path)?;
        engine.register_batches(&dataset.sql_schema, "taxonomy", schema, vec![batch])?;
    }
    let names = display_names(assets, &dataset.id)?;
    let schema = Arc::new(Schema::new(vec![text("model"), text("display_name")]));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(names.iter().map(|(model, _)| model))),
        Arc::new(StringArray::from_iter_values(names.iter().map(|(_, shown)| shown))),
    ];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns)?;
    engine.register_batches(&dataset.sql_schema, "display_names", schema, vec![batch])
}

/// The SQL schema of published figures.
pub(crate) const PUBLISHED: &str = "published";

/// Registers `data/published/*.csv`, each with the columns that `schemas/published/` says.
pub(crate) fn register_published(assets: &Assets, engine: &Engine) -> Result<()> {
    engine.create_schema(PUBLISHED)?;
    for schema in TableSchema::load_all(assets, PUBLISHED)? {
        let path = format!("data/published/{}.csv", schema.table);
        let invalid = |e: arrow::error::ArrowError| {
            Error::new(ErrorKind::Config, format!("not as schemas/published/ says: {e}"))
                .with("file", &path)
                .caused_by(e)
        };
        let text = assets.text(&path)?;
        let arrow = schema.arrow();
        let reader = arrow::csv::ReaderBuilder::new(Arc::clone(&arrow)).with_header(true).with_header_validation(true);
        let batches =
            reader.build(text.as_bytes()).map_err(invalid)?.collect::<Result<Vec<_>, _>>().map_err(invalid)?;
        engine.register_batches(PUBLISHED, &schema.table, arrow, batches)?;
    }
    Ok(())
}

/// Models of a dataset and their names on boards.
pub(crate) fn display_names(assets: &Assets, dataset: &str) -> Result<Vec<(String, String)>> {
    let names: Vec<DisplayName> = read_csv(assets, "data/models.csv")?;
    let own = names.into_iter().filter(|name| name.dataset == dataset);
    Ok(own.map(|name| (name.model, name.display_name)).collect())
}

fn text(name: &str) -> Field {
    Field::new(name, DataType::Utf8, false)
}

/// The file's columns as texts, and `position`, the row from 1.
fn taxonomy(assets: &Assets, path: &str) -> Result<(SchemaRef, RecordBatch)> {
    let invalid = |e: csv::Error| Error::new(ErrorKind::Config, e.to_string()).with("file", path).caused_by(e);
    let file = assets.text(path)?;
    let mut reader = csv::Reader::from_reader(file.as_bytes());
    let headers = reader.headers().map_err(invalid)?.clone();
    let rows = reader.records().collect::<Result<Vec<_>, _>>().map_err(invalid)?;
    let mut fields: Vec<Field> = headers.iter().map(text).collect();
    fields.push(Field::new("position", DataType::Int64, false));
    let mut columns: Vec<ArrayRef> = (0..headers.len())
        .map(|at| -> ArrayRef { Arc::new(rows.iter().map(|row| row.get(at)).collect::<StringArray>()) })
        .collect();
    columns.push(Arc::new(Int64Array::from_iter_values(1..=rows.len() as i64)));
    let schema = Arc::new(Schema::new(fields));
    Ok((Arc::clone(&schema), RecordBatch::try_new(schema, columns)?))
}

/// A row as `column=value, …`, for messages.
pub(super) fn row_text(batch: &RecordBatch, row: usize) -> Result<String> {
    let options = FormatOptions::default().with_null("null");
    let mut cells = Vec::new();
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        cells.push(format!("{}={}", field.name(), ArrayFormatter::try_new(column, &options)?.value(row)));
    }
    Ok(cells.join(", "))
}
