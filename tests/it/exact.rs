//! Exact sums and means.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch};
use arrow::datatypes::Float64Type;
use proptest::prelude::*;
use scorelake::assets::Assets;
use scorelake::exact::{ExactSum, SuperAccumulator};
use scorelake::lake::session::{Engine, EngineOptions};

/// Values, sum and mean as bits, from Python's `fractions.Fraction`: scores, any exponents, subnormals, the edges of the
/// small state.
#[rustfmt::skip]
const FRACTIONS: &[(&[u64], u64, u64)] = &[
    (&[0x0000000000000000, 0x4059000000000000, 0x0000000000000000, 0x4059000000000000, 0x4028000000000000], 0x406a800000000000, 0x4045333333333333),
    (&[0x4049000000000000, 0x0000000000000000, 0x402e000000000000], 0x4050400000000000, 0x4035aaaaaaaaaaab),
    (&[0x0000000000000000, 0x4039000000000000, 0x0000000000000000], 0x4039000000000000, 0x4020aaaaaaaaaaab),
    (&[0xb0f545183867dd1d, 0x7d4473ed3220a3b3, 0x7c22605a54228e6f, 0x0bdf5b8bbe7d9edc, 0x0b6658ca05deb71e, 0x1db0b5061f1fd04d, 0xa0169128a19623cd, 0x30f545183867dd1d], 0x7d4473f1ca3738bc, 0x7d1473f1ca3738bc),
    (&[0xc305b9dade1365fa, 0x27de63f7a1b1bdb8, 0xfae1158b7e2be0e3, 0x50a2beb874949d1d, 0x8eea36d8c9711a99, 0x2d10c88eb79e3b31, 0xf2258238eb5077b8, 0x4305b9dade1365fa], 0xfae1158b7e2be0e3, 0xfab1158b7e2be0e3),
    (&[0x646c05a8e90da8ed, 0x61d304b1cdd17608, 0xb6443ad1a3aad990, 0x354c3229f44ec73b, 0xc15fe6e4f22e7130, 0xe46c05a8e90da8ed], 0x61d304b1cdd17608, 0x61a95b97bd17480b),
    (&[0x8000001400de3fee, 0x00000007579da5cc, 0x0000000000000070, 0x8018719c3be78fc4, 0x8000055c50b27c58, 0x80a645e2a888a9a2, 0x8000000000000050], 0x80a6521e2b2396f5, 0x8079826b9f041a3d),
    (&[0x0000002563a7f281, 0x8000051db7b53804, 0x0148289fcfe4c288, 0x0000000000000098, 0x00000002b8410718, 0x800000000000000d, 0x8000007077f7e89a], 0x0148289fcf38000f, 0x011b9c245a8924a4),
    (&[0x3bb3f448bfc77120, 0xbbdb925fa488b14c, 0x3c28c544a5596698, 0xbbde8e5438798d40, 0xc3a28026ed4fac84, 0xc379d55fe1d0ba00, 0x43c12abab24ca91c], 0x43b7780befd47056, 0x438ad256c8f2c987),
    (&[0xbbe027141cd11b06, 0x3bdaad1df6f8ac14, 0xbbdad7c186ab4828, 0xc3c92dd78e6afd00, 0x3be8895c51186cba, 0x43e74b858466d982, 0x3c1a6b3516a50df4], 0x43e1000fa0cc1a42, 0x43b36dc8b7c4b04b),
    (&[0x43d8969d830b24ce, 0xc3c6574fd7560c20, 0xc3d651209624f3ce, 0xc3cf3a5bdc1ecbde, 0xc39e5e519b7d3638, 0xbc26ad3ceca5ff62, 0x3c0c1caaf21f77a0], 0xc3da693e068c0e63, 0xc3ae2f2250a01071),
];

fn summed(values: &[f64]) -> ExactSum {
    let mut sum = ExactSum::default();
    values.iter().for_each(|value| sum.add(*value));
    sum
}

#[test]
fn agrees_with_fractions() {
    for (values, sum, mean) in FRACTIONS {
        let values: Vec<f64> = values.iter().map(|bits| f64::from_bits(*bits)).collect();
        assert_eq!(summed(&values).sum().map(f64::to_bits), Some(*sum), "{values:?}");
        assert_eq!(summed(&values).mean().map(f64::to_bits), Some(*mean), "{values:?}");
    }
}

#[test]
fn hand_worked() {
    let sum = |values: &[f64]| summed(values).sum().unwrap();
    let mean = |values: &[f64]| summed(values).mean().unwrap();
    assert_eq!(sum(&[1e308, 1.0, -1e308]), 1.0);
    assert_eq!(sum(&[1e16, 1.0, -1e16]), 1.0);
    assert_eq!(sum(&[0.1; 10]), 1.0);
    assert_eq!(mean(&[60.0, 100.0, 100.0]), 260.0 / 3.0);
    assert_eq!(sum(&[f64::MAX, f64::MAX]), f64::INFINITY);
    assert_eq!(mean(&[f64::MAX, f64::MAX]), f64::MAX);
    assert_eq!(sum(&[-f64::MAX, -f64::MAX]), f64::NEG_INFINITY);
    // Half of the smallest double rounds to even, three quarters of it up.
    assert_eq!(mean(&[5e-324, 0.0]), 0.0);
    assert_eq!(mean(&[5e-324, 5e-324, 5e-324, 0.0]), 5e-324);
    assert_eq!(sum(&[-0.0, -0.0]).to_bits(), 0.0_f64.to_bits());
    assert_eq!(summed(&[]).sum(), None);
    assert_eq!(summed(&[]).mean(), None);
}

#[test]
fn values_that_are_no_numbers() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    for (values, expected) in
        [(&[1.0, inf][..], inf), (&[-inf, 1e300], -inf), (&[inf, -inf], nan), (&[nan, 1.0], nan), (&[nan, inf], nan)]
    {
        let found = summed(values).sum().unwrap();
        assert!(found == expected || found.is_nan() && expected.is_nan(), "{values:?} gave {found}");
    }
}

#[test]
fn counts_are_64_bit() {
    // C25: the count passes 2^32 without additions one by one.
    let mut sum = summed(&[1.0]);
    for _ in 0..33 {
        let other = sum.clone();
        sum.merge(&other);
    }
    assert_eq!(sum.count(), 1 << 33);
    assert_eq!(sum.sum(), Some((1_u64 << 33) as f64));
    assert_eq!(sum.mean(), Some(1.0));
}

#[test]
fn states_survive_serialization() {
    for values in [&[1.5, 2.5][..], &[1e300, 1e-300, -1e300], &[f64::NAN], &[]] {
        let sum = summed(values);
        let mut bytes = Vec::new();
        sum.write_bytes(&mut bytes);
        let read = ExactSum::from_bytes(&bytes).unwrap();
        assert_eq!((read.count(), read.sum().map(f64::to_bits)), (sum.count(), sum.sum().map(f64::to_bits)));
        assert_eq!(ExactSum::from_bytes(&bytes[1..]), None);
    }
    assert_eq!(SuperAccumulator::from_bytes(&[0; 7]), None);
}

fn any_double() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite()),
        -100.0..100.0_f64,
        Just(60.0),
        Just(0.0),
        Just(2.0_f64.powi(61)),
        Just(-(2.0_f64.powi(62))),
    ]
}

proptest! {
    #[test]
    fn order_and_split_do_not_matter(values in prop::collection::vec(any_double(), 1..60), cut in 0_usize..60, by in 0_usize..60) {
        let whole = summed(&values);
        let mut turned = values.clone();
        turned.rotate_left(by % values.len());
        turned.reverse();
        let (left, right) = turned.split_at(cut % turned.len());
        let mut merged = summed(right);
        merged.merge(&summed(left));
        prop_assert_eq!(whole.sum().map(f64::to_bits), merged.sum().map(f64::to_bits));
        prop_assert_eq!(whole.mean().map(f64::to_bits), merged.mean().map(f64::to_bits));
    }

    #[test]
    fn integers_are_summed_as_integers(values in prop::collection::vec(-1_000_000_i64..1_000_000, 1..200)) {
        let doubles: Vec<f64> = values.iter().map(|value| *value as f64).collect();
        let total: i64 = values.iter().sum();
        prop_assert_eq!(summed(&doubles).sum(), Some(total as f64));
        // Both operands are exact, so one division is the correctly rounded mean.
        prop_assert_eq!(summed(&doubles).mean(), Some(total as f64 / values.len() as f64));
    }
}

/// Groups whose values need the wide state beside groups that do not, over several partitions and batch sizes.
#[test]
fn in_sql_grouped_and_not() {
    let groups: Vec<i64> = (0..20_000).map(|row| row % 7).collect();
    let values: Vec<Option<f64>> = (0..20_000_i64)
        .map(|row| match row % 7 {
            0 => None,
            1 => Some(0.1 * row as f64),
            2 => Some(if row % 2 == 0 { 1e300 } else { -1e300 } + row as f64),
            3 => Some(1e-200 * row as f64),
            _ => Some((row % 3) as f64 * 60.0),
        })
        .collect();
    let mut results = Vec::new();
    for (threads, batch_size) in [(1, 8192), (3, 100), (8, 17)] {
        let options = EngineOptions { threads, batch_size, ..EngineOptions::default() };
        let engine = Engine::new(&Assets::embedded(), options, "t").unwrap();
        engine.create_schema("t").unwrap();
        let batches: Vec<RecordBatch> = groups
            .chunks(batch_size * 3)
            .zip(values.chunks(batch_size * 3))
            .map(|(groups, values)| {
                let columns: Vec<(&str, ArrayRef)> = vec![
                    ("g", Arc::new(Int64Array::from(groups.to_vec()))),
                    ("v", Arc::new(Float64Array::from(values.to_vec()))),
                ];
                RecordBatch::try_from_iter(columns).unwrap()
            })
            .collect();
        engine.register_batches("t", "rows", batches[0].schema(), batches).unwrap();
        let mut bits = Vec::new();
        for sql in [
            "SELECT exact_sum(v), exact_avg(v), exact_avg(v) FILTER (WHERE v > 0) FROM rows GROUP BY g ORDER BY g",
            "SELECT exact_sum(v), exact_avg(v), exact_sum(g) FROM rows",
        ] {
            for batch in engine.query(sql).unwrap() {
                for column in batch.columns() {
                    bits.extend(column.as_primitive::<Float64Type>().iter().map(|value| value.map(f64::to_bits)));
                }
            }
        }
        results.push(bits);
        // Distinct values alone are grouped first; beside others they are refused rather than counted twice.
        let distinct = engine.query("SELECT exact_sum(DISTINCT v) FROM rows WHERE g > 3").unwrap();
        assert_eq!(distinct[0].column(0).as_primitive::<Float64Type>().value(0), 180.0);
        let refused = engine.query("SELECT exact_avg(DISTINCT v), exact_avg(v) FROM rows").unwrap_err();
        assert!(refused.message().contains("DISTINCT"), "{refused}");
    }
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
    assert_eq!(results[0][0], None, "a group of nulls has no sum");
    let by_hand = |group: usize| summed(&values.iter().skip(group).step_by(7).copied().flatten().collect::<Vec<_>>());
    for group in 1..7 {
        assert_eq!(results[0][group], by_hand(group).sum().map(f64::to_bits));
        assert_eq!(results[0][7 + group], by_hand(group).mean().map(f64::to_bits));
    }
}
