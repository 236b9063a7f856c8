//! `exact_sum` and `exact_avg` as DataFusion aggregates.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::{Result, ScalarValue, exec_err, not_impl_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, GroupsAccumulator, Signature, Volatility};

use super::groups::ExactGroups;
use super::sum::ExactSum;

/// `exact_sum(double) → double`: the sum as if computed with unlimited precision and rounded once; null without values.
pub fn exact_sum() -> AggregateUDF {
    AggregateUDF::new_from_impl(ExactAggregate::new("exact_sum", false))
}

/// `exact_avg(double) → double`: the mean as if computed with unlimited precision and rounded once; null without values.
pub fn exact_avg() -> AggregateUDF {
    AggregateUDF::new_from_impl(ExactAggregate::new("exact_avg", true))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ExactAggregate {
    name: &'static str,
    mean: bool,
    signature: Signature,
}

impl ExactAggregate {
    fn new(name: &'static str, mean: bool) -> Self {
        Self { name, mean, signature: Signature::uniform(1, vec![DataType::Float64], Volatility::Immutable) }
    }

    fn refuse_distinct(&self, args: &AccumulatorArgs) -> Result<()> {
        if args.is_distinct {
            return not_impl_err!("{}(DISTINCT …): take the distinct values in a subquery", self.name);
        }
        Ok(())
    }
}

impl AggregateUDFImpl for ExactAggregate {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arg_types: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        self.refuse_distinct(&args)?;
        Ok(Box::new(ExactAccumulator { mean: self.mean, sum: ExactSum::default() }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format!("{}[exact]", args.name), DataType::Binary, true))])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        self.refuse_distinct(&args)?;
        Ok(Box::new(ExactGroups::new(self.mean)))
    }
}

#[derive(Debug)]
struct ExactAccumulator {
    mean: bool,
    sum: ExactSum,
}

impl Accumulator for ExactAccumulator {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in values[0].as_primitive::<Float64Type>().iter().flatten() {
            self.sum.add(value);
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Float64(if self.mean { self.sum.mean() } else { self.sum.sum() }))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.sum.wide.as_ref().map_or(0, |_| super::SuperAccumulator::BYTES)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut bytes = Vec::new();
        self.sum.write_bytes(&mut bytes);
        Ok(vec![ScalarValue::Binary(Some(bytes))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for state in states[0].as_binary::<i32>().iter().flatten() {
            match ExactSum::from_bytes(state) {
                Some(state) => self.sum.merge(&state),
                None => return exec_err!("a partial state of an exact aggregate is damaged"),
            }
        }
        Ok(())
    }
}
