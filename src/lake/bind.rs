//! Values and names in SQL: bound as syntax nodes, never pasted into text.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{Expr, Value, visit_expressions_mut};

use crate::error::{Error, ErrorKind, Result};
use crate::pipeline::Parameter;

/// Replaces every `$name` by its value; a name without value is an error.
pub(super) fn bind(statement: &mut Statement, parameters: &BTreeMap<String, Parameter>) -> Result<()> {
    let statement = match statement {
        Statement::Statement(statement) => statement,
        Statement::Explain(explain) => return bind(&mut explain.statement, parameters),
        _ => return Err(Error::new(ErrorKind::Sql, "only a query can be run").hint("write a SELECT")),
    };
    let missing = visit_expressions_mut(statement.as_mut(), |expr| {
        let Expr::Value(value) = expr else { return ControlFlow::Continue(()) };
        let Value::Placeholder(name) = &value.value else { return ControlFlow::Continue(()) };
        match parameters.get(name.trim_start_matches('$')) {
            Some(parameter) => {
                value.value = literal(parameter);
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(name.clone()),
        }
    });
    match missing {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(name) => {
            let known: Vec<_> = parameters.keys().map(|key| format!("${key}")).collect();
            let hint = if known.is_empty() {
                "give it with --set NAME=VALUE".into()
            } else {
                format!("known: {}", known.join(", "))
            };
            Err(Error::new(ErrorKind::Sql, format!("no value for {name}")).hint(hint))
        }
    }
}

fn literal(parameter: &Parameter) -> Value {
    match parameter {
        Parameter::Int(value) => Value::Number(value.to_string(), false),
        // The shortest text that reads back as the same double; always with a point or exponent.
        Parameter::Float(value) => Value::Number(format!("{value:?}"), false),
        Parameter::Text(value) => Value::SingleQuotedString(value.clone()),
    }
}
