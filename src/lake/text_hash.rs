//! `text_hash(text) → bigint`, for SQL that looks for equal texts among many: numbers are grouped in a fraction of the memory and
//! time, and what they suspect is then looked at as it is.

use std::hash::BuildHasher;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::logical_expr::{ColumnarValue, ScalarUDF, Volatility, create_udf};
use foldhash::quality::FixedState;

/// A hash of the text, at least 0; null for null. Equal texts have equal hashes; nothing is promised of the numbers, which another
/// version may choose otherwise.
pub(super) fn text_hash() -> ScalarUDF {
    let hashes = |args: &[ColumnarValue]| {
        let arrays = ColumnarValue::values_to_arrays(args)?;
        let texts = cast(&arrays[0], &DataType::Utf8View)?;
        let state = FixedState::with_seed(0);
        let hash = |text: &str| (state.hash_one(text) >> 1) as i64;
        Ok(ColumnarValue::Array(Arc::new(
            texts.as_string_view().iter().map(|text| text.map(hash)).collect::<Int64Array>(),
        ) as ArrayRef))
    };
    create_udf("text_hash", vec![DataType::Utf8View], DataType::Int64, Volatility::Immutable, Arc::new(hashes))
}
