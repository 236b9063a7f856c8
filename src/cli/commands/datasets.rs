//! `scorelake datasets`

use super::text_rows;
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::Result;
use crate::schema::dataset::Dataset;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {}

pub(in crate::cli) fn execute(session: &Session, _args: &Args) -> Result<Outcome> {
    let rows: Vec<_> = Dataset::all(&session.assets)?
        .into_iter()
        .map(|d| [d.id, d.sql_schema, d.title, d.source, d.revision, d.licence, d.files].map(Into::into))
        .collect();
    text_rows::print(session, ["dataset", "sql_schema", "title", "source", "revision", "licence", "files"], &rows)?;
    Ok(Outcome::Complete)
}
