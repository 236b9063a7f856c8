//! Refuses what would give other digits for the same rows.

use datafusion::common::DFSchemaRef;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, Volatility, WindowFunctionDefinition};

use crate::error::{Error, ErrorKind, Result};

/// Inexact over doubles only.
const OVER_DOUBLES: [&str; 2] = ["sum", "avg"];
/// Inexact, or approximate, over anything.
const OVER_ANYTHING: [&str; 14] = [
    "approx_distinct",
    "approx_median",
    "approx_percentile_cont",
    "approx_percentile_cont_with_weight",
    "avg",
    "corr",
    "covar_pop",
    "covar_samp",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "var",
    "var_pop",
    "var_samp",
];

/// Refuses a plan with functions of the clock or of chance, with AVG or SUM over doubles, with moments, or with approximations, as aggregates or over windows.
pub(super) fn refuse(plan: &LogicalPlan) -> Result<()> {
    let mut inexact = None;
    let mut changing = None;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|inner| {
                if let Expr::ScalarFunction(call) = inner
                    && call.func.signature().volatility != Volatility::Immutable
                {
                    changing = Some(call.func.name().to_owned());
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
        let (exprs, schema): (&[Expr], &DFSchemaRef) = match node {
            LogicalPlan::Aggregate(aggregate) => (&aggregate.aggr_expr, aggregate.input.schema()),
            LogicalPlan::Window(window) => (&window.window_expr, window.input.schema()),
            _ => return Ok(TreeNodeRecursion::Continue),
        };
        for expr in exprs {
            expr.apply(|inner| {
                let (name, args) = match inner {
                    Expr::AggregateFunction(call) => (call.func.name(), &call.params.args),
                    Expr::WindowFunction(call) => match &call.fun {
                        WindowFunctionDefinition::AggregateUDF(function) => (function.name(), &call.params.args),
                        WindowFunctionDefinition::WindowUDF(_) => return Ok(TreeNodeRecursion::Continue),
                    },
                    _ => return Ok(TreeNodeRecursion::Continue),
                };
                let is_double = || args.iter().any(|arg| arg.get_type(schema).is_ok_and(|kind| kind.is_floating()));
                let is_moment = OVER_ANYTHING.contains(&name) || name.starts_with("regr_");
                if is_moment || OVER_DOUBLES.contains(&name) && is_double() {
                    inexact = Some(name.to_owned());
                }
                Ok(TreeNodeRecursion::Continue)
            })?;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    if let Some(name) = changing {
        return Err(Error::new(ErrorKind::Config, format!("{name} gives other values at each run")));
    }
    let Some(name) = inexact else { return Ok(()) };
    let error = Error::new(ErrorKind::Config, format!("{name} over doubles depends on the order of rows"));
    Err(if OVER_DOUBLES.contains(&name.as_str()) { error.hint(format!("use exact_{name}")) } else { error })
}
