//! The second engine: printing what it computes, and holding it against the first.

use super::score::nothing_to_score;
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, ErrorKind, Result};
use crate::lake::manifest::Manifest;
use crate::lake::{Lake, Staging};
use crate::pipeline::Plan;
use crate::score;
use crate::snapshot::Rows;
use crate::store::File;

/// Prints a table as Polars computes it; publishes nothing.
pub(super) fn print(session: &Session, lake: &Lake, plan: &Plan, table: Option<&str>) -> Result<Outcome> {
    if let Some(own) = plan.own_queries().next() {
        return Err(Error::new(
            ErrorKind::Usage,
            "Polars scores by the built-in pipelines' rules, not by queries of one's own",
        )
        .with("file", &own.path)
        .hint("leave --engine out"));
    }
    let _reading = lake.reading(&plan.dataset.id)?;
    let manifest = Manifest::load(lake, &plan.dataset.id)?;
    let tables = score::second_opinion(&session.assets, lake, &manifest, plan)?;
    let has_rows =
        |name: &&String| tables.iter().any(|table| table.schema.table == **name && table.batch.num_rows() > 0);
    let Some(first) = plan.show.iter().find(has_rows) else {
        return Err(nothing_to_score(lake, plan));
    };
    let wanted = table.unwrap_or(first);
    let found = tables.iter().find(|table| table.schema.table == wanted).ok_or_else(|| {
        let names: Vec<_> = tables.iter().map(|table| table.schema.table.as_str()).collect();
        Error::new(ErrorKind::Usage, format!("Polars computes no table `{wanted}`"))
            .hint(format!("tables: {}", names.join(", ")))
    })?;
    session.printer.rows(&found.batch.schema(), std::slice::from_ref(&found.batch), true)?;
    session.printer.note(&format!("{wanted} by Polars ({}); nothing is published", plan.protocol));
    Ok(Outcome::Complete)
}

/// Scores the lake by both engines; tells how many tables are the same, or fails with the first cell that differs.
pub(super) fn agree(session: &Session, lake: &Lake, manifest: &Manifest, plan: &Plan) -> Result<String> {
    let staging = Staging::private(lake, "check")?;
    let scored = score::score(&session.assets, lake, manifest, plan, session.engine(), staging.path(), &|_| {});
    let scored = match scored {
        Err(error) if error.kind() == ErrorKind::Lacking => return Ok(format!("not scored: {}", error.message())),
        scored => scored?,
    };
    let opinions = score::second_opinion(&session.assets, lake, manifest, plan)?;
    let mut rows = 0;
    let mut compared = 0;
    for opinion in &opinions {
        // A pipeline of one's own may compute fewer tables.
        let Some(table) = scored.tables.iter().find(|table| table.schema.table == opinion.schema.table) else {
            continue;
        };
        let batches =
            Rows::open(&File::from(table.path.as_path()), &table.schema, usize::MAX)?.collect::<Result<Vec<_>>>()?;
        if let Some(difference) = score::compare(&batches, opinion)? {
            let own: Vec<_> = plan.own_queries().map(|sql| sql.path.clone()).collect();
            let hint = match own.is_empty() {
                true => "one of the engines, or a query, is wrong: please report it".to_owned(),
                false => format!(
                    "Polars follows the built-in queries; own ones are {}; --without-data leaves this out",
                    own.join(", ")
                ),
            };
            return Err(Error::new(ErrorKind::Check, format!("the engines differ: {difference}"))
                .with("protocol", &plan.protocol)
                .hint(hint));
        }
        rows += opinion.batch.num_rows();
        compared += 1;
    }
    Ok(match compared {
        0 => "not compared: the pipeline computes none of the tables that Polars does".into(),
        _ => format!("{compared} tables, {rows} rows the same to 1e-9"),
    })
}
