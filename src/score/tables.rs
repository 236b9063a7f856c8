//! Small tables that every pipeline sees, and rules that every query keeps.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use serde::Deserialize;

use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::lake::session::Engine;
use crate::pipeline::Plan;
use crate::schema::dataset::read_csv;
use crate::schema::taxonomy::Rubric;

#[derive(Deserialize)]
struct DisplayName {
    dataset: String,
    model: String,
    display_name: String,
}

/// Registers `taxonomy` and `display_names`.
pub(super) fn register(assets: &Assets, engine: &Engine, plan: &Plan) -> Result<()> {
    let rubric = Rubric::load(assets, &plan.dataset.id)?;
    let texts = |get: fn(&crate::schema::taxonomy::Facet) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rubric.facets.iter().map(get)))
    };
    let text = |name: &str| Field::new(name, DataType::Utf8, false);
    let schema = Arc::new(Schema::new(vec![
        text("pillar"),
        text("capability"),
        text("facet"),
        Field::new("position", DataType::Int64, false),
    ]));
    let positions: ArrayRef = Arc::new(Int64Array::from_iter_values(1..=rubric.facets.len() as i64));
    let columns = vec![texts(|row| &row.pillar), texts(|row| &row.capability), texts(|row| &row.facet), positions];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns)?;
    engine.register_batches(&plan.dataset.sql_schema, "taxonomy", schema, vec![batch])?;

    let names: Vec<DisplayName> = read_csv(assets, "data/models.csv")?;
    let names: Vec<_> = names.into_iter().filter(|name| name.dataset == plan.dataset.id).collect();
    let schema = Arc::new(Schema::new(vec![text("model"), text("display_name")]));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(names.iter().map(|name| &name.model))),
        Arc::new(StringArray::from_iter_values(names.iter().map(|name| &name.display_name))),
    ];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns)?;
    engine.register_batches(&plan.dataset.sql_schema, "display_names", schema, vec![batch])
}

/// Refuses AVG and SUM over doubles: their last digits depend on the order of rows.
pub(super) fn refuse_inexact(plan: &LogicalPlan) -> Result<()> {
    let mut inexact = None;
    plan.apply_with_subqueries(|node| {
        let LogicalPlan::Aggregate(aggregate) = node else { return Ok(TreeNodeRecursion::Continue) };
        for expr in &aggregate.aggr_expr {
            expr.apply(|inner| {
                if let Expr::AggregateFunction(function) = inner {
                    let name = function.func.name();
                    let is_float = function
                        .params
                        .args
                        .iter()
                        .any(|arg| arg.get_type(aggregate.input.schema()).is_ok_and(|kind| kind.is_floating()));
                    if name == "avg" || name == "sum" && is_float {
                        inexact = Some(name.to_owned());
                    }
                }
                Ok(TreeNodeRecursion::Continue)
            })?;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    match inexact {
        None => Ok(()),
        Some(name) => Err(Error::new(ErrorKind::Config, format!("{name} over doubles depends on the order of rows"))
            .hint(format!("use exact_{name}"))),
    }
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
