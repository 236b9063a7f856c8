//! `scorelake sql`

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;

use super::score::parse_parameter;
use super::text_rows;
use crate::cli::Session;
use crate::cli::output::Outcome;
use crate::error::{Error, ErrorKind, Result};
use crate::explore::{Explorer, questions};
use crate::lake::Lake;
use crate::pipeline::Parameter;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// One query.
    #[arg(conflicts_with_all = ["file", "query", "list"])]
    sql: Option<String>,
    /// A file with one query; `-` for standard input.
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["query", "list"])]
    file: Option<PathBuf>,
    /// A built-in question by its name (see --list).
    #[arg(long, value_name = "NAME", conflicts_with = "list")]
    query: Option<String>,
    /// A value for a `$NAME` in the query.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_parameter)]
    set: Vec<(String, Parameter)>,
    /// List the built-in questions.
    #[arg(long)]
    list: bool,
}

pub(in crate::cli) fn execute(session: &Session, args: &Args) -> Result<Outcome> {
    if args.list {
        let rows: Vec<_> =
            questions(&session.assets)?.into_iter().map(|q| [q.name, q.question].map(Into::into)).collect();
        text_rows::print(session, ["query", "question"], &rows)?;
        return Ok(Outcome::Complete);
    }
    let sql = text(session, args)?;
    let parameters: BTreeMap<String, Parameter> = args.set.iter().cloned().collect();
    let lake = Lake::if_there(&session.globals.lake)?;
    if lake.is_none() {
        session.printer.note(&format!("no lake at {}: only expressions can be asked", session.globals.lake.display()));
    }
    let explorer = Explorer::open(&session.assets, lake.as_ref(), session.engine())?;
    let (schema, batches) = explorer.query(&sql, &parameters)?;
    session.printer.rows(&schema, &batches, false)?;
    Ok(Outcome::Complete)
}

fn text(session: &Session, args: &Args) -> Result<String> {
    if let Some(sql) = &args.sql {
        return Ok(sql.clone());
    }
    if let Some(path) = &args.file {
        if path.as_os_str() == "-" {
            let mut text = String::new();
            std::io::stdin().lock().read_to_string(&mut text).map_err(|e| Error::io("stdin", "read", e))?;
            return Ok(text);
        }
        return std::fs::read_to_string(path).map_err(|e| Error::io(path, "read the query", e));
    }
    if let Some(name) = &args.query {
        let questions = questions(&session.assets)?;
        let names: Vec<_> = questions.iter().map(|question| question.name.clone()).collect();
        let found = questions.into_iter().find(|question| question.name == *name);
        return found.map(|question| question.text).ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("no question `{name}`"))
                .hint(format!("questions: {}", names.join(", ")))
        });
    }
    Err(Error::new(ErrorKind::Usage, "no query")
        .hint("scorelake sql 'SELECT …', sql -f FILE, or sql --list for questions to start from"))
}
