//! `scorelake schema`

use super::text_rows;
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::dataset::Dataset;
use crate::schema::{TableKind, TableSchema};
use crate::score::PUBLISHED;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// A table, such as `judgments` or `qwen_image_bench.judgments`; all tables if absent.
    table: Option<String>,
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    let mut tables = Vec::new();
    for dataset in Dataset::all(&session.assets)? {
        let mut schemas = TableSchema::load_all(&session.assets, &dataset.id)?;
        // Records that could not be read stand beside every dataset's tables.
        schemas.push(TableSchema::load(&session.assets, "lake", "rejects")?);
        tables.extend(schemas.into_iter().map(|schema| (format!("{}.{}", dataset.sql_schema, schema.table), schema)));
    }
    let published = TableSchema::load_all(&session.assets, PUBLISHED)?;
    tables.extend(published.into_iter().map(|schema| (format!("{PUBLISHED}.{}", schema.table), schema)));
    tables.sort_by(|a, b| a.0.cmp(&b.0));
    let Some(wanted) = &args.table else {
        let rows: Vec<_> = tables
            .into_iter()
            .map(|(name, schema)| {
                let kind = match schema.kind {
                    TableKind::Lake => "lake",
                    TableKind::Result => "result",
                    TableKind::Published => "published",
                };
                [name, kind.into(), schema.grain, schema.key.join(", ")].map(Into::into)
            })
            .collect();
        text_rows::print(session, ["table", "kind", "one row is", "key"], &rows)?;
        return Ok(Outcome::Complete);
    };
    let found: Vec<_> = tables.iter().filter(|(name, schema)| name == wanted || schema.table == *wanted).collect();
    if found.is_empty() {
        let wanted_table = wanted.rsplit('.').next().unwrap_or(wanted);
        let is_like = |schema: &TableSchema| strsim::jaro_winkler(&schema.table, wanted_table) > 0.9;
        let like: Vec<_> = tables.iter().filter(|(_, schema)| is_like(schema)).map(|(name, _)| name.as_str()).collect();
        let hint = match like.is_empty() {
            true => "`scorelake schema` lists the tables".to_owned(),
            false => format!("did you mean {}?", like.join(" or ")),
        };
        return Err(Error::new(ErrorKind::Usage, format!("no table `{wanted}`")).hint(hint));
    }
    let mut rows = Vec::new();
    for (name, schema) in found {
        for column in &schema.columns {
            rows.push([
                name.as_str().into(),
                column.name.as_str().into(),
                column.column_type.name().into(),
                if column.nullable { "yes" } else { "" }.into(),
                if schema.key.contains(&column.name) { "key" } else { "" }.into(),
                column.unit.clone().into(),
                column.meaning.as_str().into(),
            ]);
        }
    }
    text_rows::print(session, ["table", "column", "type", "null", "key", "unit", "meaning"], &rows)?;
    Ok(Outcome::Complete)
}
