//! `srcc`, `krcc`, `plcc` and `agreement` as DataFusion aggregates over two columns of doubles.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, Float64Array, Int64Array, StringArray, StructArray};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Float64Type};
use datafusion::common::{Result, ScalarValue, exec_err, not_impl_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};

use super::{Coefficient, Pairs, fit};

/// `srcc(x, y) → double`: Spearman's coefficient with average ranks; null where undefined. Pairs with a null or a value that is
/// not finite are left out.
pub fn srcc() -> AggregateUDF {
    AggregateUDF::new_from_impl(Agreement::new("srcc", Kind::Srcc))
}

/// `krcc(x, y) → double`: Kendall's tau-b; null where undefined. Pairs as for [`srcc`].
pub fn krcc() -> AggregateUDF {
    AggregateUDF::new_from_impl(Agreement::new("krcc", Kind::Krcc))
}

/// `plcc(x, y) → double`: Pearson's coefficient of the values as they are; null where undefined. Pairs as for [`srcc`].
pub fn plcc() -> AggregateUDF {
    AggregateUDF::new_from_impl(Agreement::new("plcc", Kind::Plcc))
}

/// `agreement(x, y) → struct`: all three, Pearson's coefficient after the logistic map with its parameters, and why anything is
/// null: n, srcc, krcc, plcc, plcc_fitted, rmse, beta1 to beta5, fit_start, iterations, converged, reason.
pub fn agreement() -> AggregateUDF {
    AggregateUDF::new_from_impl(Agreement::new("agreement", Kind::All))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Srcc,
    Krcc,
    Plcc,
    All,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Agreement {
    name: &'static str,
    kind: Kind,
    signature: Signature,
}

impl Agreement {
    fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, signature: Signature::uniform(2, vec![DataType::Float64], Volatility::Immutable) }
    }
}

fn fields() -> Fields {
    let double = |name: &str| Field::new(name, DataType::Float64, true);
    let betas = ["beta1", "beta2", "beta3", "beta4", "beta5"];
    let doubles = ["srcc", "krcc", "plcc", "plcc_fitted", "rmse"].into_iter().chain(betas).map(double);
    std::iter::once(Field::new("n", DataType::Int64, true))
        .chain(doubles)
        .chain([
            Field::new("fit_start", DataType::Utf8, true),
            Field::new("iterations", DataType::Int64, true),
            Field::new("converged", DataType::Boolean, true),
            Field::new("reason", DataType::Utf8, true),
        ])
        .collect()
}

impl AggregateUDFImpl for Agreement {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arg_types: &[DataType]) -> Result<DataType> {
        Ok(if self.kind == Kind::All { DataType::Struct(fields()) } else { DataType::Float64 })
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return not_impl_err!("{}(DISTINCT …): take the distinct pairs in a subquery", self.name);
        }
        Ok(Box::new(Collected { kind: self.kind, pairs: Vec::new() }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(format!("{}[pairs]", args.name), DataType::Binary, true))])
    }
}

/// The pairs of a group: what the coefficients need is all of them.
#[derive(Debug)]
struct Collected {
    kind: Kind,
    pairs: Vec<(f64, f64)>,
}

impl Accumulator for Collected {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (x, y) = (values[0].as_primitive::<Float64Type>(), values[1].as_primitive::<Float64Type>());
        self.pairs.extend(x.iter().zip(y.iter()).filter_map(|(x, y)| Some((x?, y?))));
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        // Over a window it is asked again and again, with more pairs each time.
        let pairs = Pairs::new(self.pairs.iter().copied());
        let defined = |coefficient: Coefficient| Ok(ScalarValue::Float64(coefficient.ok()));
        match self.kind {
            Kind::Srcc => defined(pairs.srcc()),
            Kind::Krcc => defined(pairs.krcc()),
            Kind::Plcc => defined(pairs.plcc()),
            Kind::All => everything(&pairs),
        }
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.pairs.capacity() * size_of::<(f64, f64)>()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let bytes = self.pairs.iter().flat_map(|(x, y)| [x.to_le_bytes(), y.to_le_bytes()]).flatten().collect();
        Ok(vec![ScalarValue::Binary(Some(bytes))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for state in states[0].as_binary::<i32>().iter().flatten() {
            let (pairs, rest) = state.as_chunks::<16>();
            if !rest.is_empty() {
                return exec_err!("a partial state of a correlation is damaged");
            }
            self.pairs.extend(pairs.iter().map(|pair| {
                let (x, y) = pair.split_at(8);
                let double = |bytes: &[u8]| bytes.iter().rev().fold(0, |bits: u64, byte| bits << 8 | u64::from(*byte));
                (f64::from_bits(double(x)), f64::from_bits(double(y)))
            }));
        }
        Ok(())
    }
}

fn everything(pairs: &Pairs) -> Result<ScalarValue> {
    let fitted = fit(pairs);
    let reason = match (pairs.plcc(), &fitted) {
        (Err(undefined), _) => Some(undefined.to_string()),
        (Ok(_), Err(unfitted)) => Some(unfitted.to_string()),
        (Ok(_), Ok(fit)) if fit.plcc.is_none() => Some("the fitted map is constant".to_owned()),
        _ => None,
    };
    let fitted = fitted.ok();
    let double = |value: Option<f64>| -> ArrayRef { Arc::new(Float64Array::from(vec![value])) };
    let text = |value: Option<String>| -> ArrayRef { Arc::new(StringArray::from(vec![value])) };
    let mut columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from(vec![pairs.len() as i64]))];
    columns.extend([pairs.srcc().ok(), pairs.krcc().ok(), pairs.plcc().ok()].map(double));
    columns.push(double(fitted.and_then(|fit| fit.plcc)));
    columns.push(double(fitted.map(|fit| fit.rmse)));
    columns.extend((0..5).map(|at| double(fitted.map(|fit| fit.betas[at]))));
    columns.push(text(fitted.map(|fit| format!("b2={} b3=q{:.2}", fit.start_slope, fit.start_place))));
    columns.push(Arc::new(Int64Array::from(vec![fitted.map(|fit| i64::from(fit.iterations))])));
    columns.push(Arc::new(BooleanArray::from(vec![fitted.map(|fit| fit.converged)])));
    columns.push(text(reason));
    Ok(ScalarValue::Struct(Arc::new(StructArray::try_new(fields(), columns, None)?)))
}
