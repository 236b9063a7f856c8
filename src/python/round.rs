//! `round(x, 2)` of Python: the nearest decimal to the exact binary value, ties to even.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array};
use arrow::datatypes::{DataType, Float64Type};
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};

/// `round(value, 2)`: 3.125, which is exact, gives 3.12; 2.675, which is a little less, gives 2.67.
pub fn round2(value: f64) -> f64 {
    // The formatter works on the exact decimal expansion and takes ties to even.
    format!("{value:.2}").parse().unwrap_or(value)
}

/// `python_round2(double) → double`, for SQL.
pub fn python_round2() -> ScalarUDF {
    let round = |args: &[ColumnarValue]| {
        let arrays = ColumnarValue::values_to_arrays(args)?;
        let column = arrays[0].as_primitive::<Float64Type>();
        let rounded: Float64Array = column.iter().map(|value| value.map(round2)).collect();
        Ok(ColumnarValue::Array(Arc::new(rounded) as ArrayRef))
    };
    create_udf("python_round2", vec![DataType::Float64], DataType::Float64, Volatility::Immutable, Arc::new(round))
}
