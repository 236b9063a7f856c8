//! Agreement with human scores: coefficients and fits against exact references, worked examples, and what must not change.

use proptest::prelude::*;
use scorelake::correlation::{Pairs, fit};
use serde_json::Value;

use super::util::shared;

fn pairs(x: &[f64], y: &[f64]) -> Pairs {
    Pairs::new(x.iter().copied().zip(y.iter().copied()))
}

#[track_caller]
fn assert_near(found: f64, wanted: f64, tolerance: f64, place: &str) {
    assert!((found - wanted).abs() <= tolerance, "{place}: {found} instead of {wanted}");
}

/// Cases C01, C02, C05: ties; the values are those of scipy.
#[test]
fn ties_get_average_ranks_and_tau_b() {
    let tied = pairs(&[1.0, 0.0, 4.0, 1.0, 0.0, 3.0, 0.0], &[4.0, 0.0, 3.0, 3.0, 3.0, 1.0, 1.0]);
    assert_near(tied.srcc().unwrap(), 0.352941, 5e-7, "C01");
    let tied = pairs(&[1.0, 1.0, 1.0, 1.0, 2.0], &[5.0, 4.0, 3.0, 2.0, 1.0]);
    assert_near(tied.srcc().unwrap(), -0.5_f64.sqrt(), 1e-15, "C02");
    let tied = pairs(&[1.0, 1.0, 2.0, 3.0], &[1.0, 2.0, 2.0, 3.0]);
    assert_near(tied.krcc().unwrap(), 0.8, 1e-15, "C05");
    let mostly_tied = pairs(&[0.0, 0.0, 0.0, 0.0, 1.0], &[0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!((mostly_tied.krcc().unwrap(), mostly_tied.srcc().unwrap()), (1.0, 1.0));
}

/// Case C03: undefined, with the reason.
#[test]
fn constant_input_is_undefined() {
    for undefined in [pairs(&[3.0; 5], &[1.0, 2.0, 3.0, 4.0, 5.0]), pairs(&[1.0, 2.0, 3.0], &[7.0; 3])] {
        for coefficient in [undefined.srcc(), undefined.krcc(), undefined.plcc()] {
            assert_eq!(coefficient.unwrap_err().to_string(), "constant input");
        }
        assert!(fit(&undefined).is_err());
    }
    for few in [pairs(&[], &[]), pairs(&[1.0], &[2.0])] {
        assert_eq!(few.srcc().unwrap_err().to_string(), "fewer than 2 pairs");
    }
    let five = pairs(&[1.0, 2.0, 3.0, 4.0, 5.0], &[1.0, 3.0, 2.0, 5.0, 4.0]);
    assert_eq!(fit(&five).unwrap_err().to_string(), "no fit to fewer than 6 pairs");
    let two_valued = pairs(&[0.0, 0.0, 0.0, 1.0, 1.0, 1.0], &[1.0, 2.0, 3.0, 2.0, 3.0, 4.0]);
    assert_eq!(
        fit(&two_valued).unwrap_err().to_string(),
        "no fit: fewer than 3 different predictions, or too far apart"
    );
}

/// What lies on a curve of the family is fitted exactly.
#[test]
fn an_exact_curve_is_found() {
    for (n, noise) in [(12, 0.0), (50, 0.0), (50, 1e-9), (300, 1e-12)] {
        let at = |k: usize| 11.0 * k as f64 / (n - 1) as f64;
        let curve = |k: usize| 5.0 / (1.0 + (5.0 - at(k)).exp()) + noise * ((k * 7919) % 13) as f64;
        let found = fit(&Pairs::new((0..n).map(|k| (at(k), curve(k))))).unwrap();
        assert!(found.converged && found.rmse < 1e-7 + 20.0 * noise, "{n} {noise}: {found:?}");
        assert_near(found.plcc.unwrap(), 1.0, 1e-9, "plcc");
    }
}

#[test]
fn values_of_any_size_have_coefficients() {
    let (x, y) = ([1.0, 2.0, 4.0, 8.0, 9.0, 11.0, 12.0], [1.0, 3.0, 2.0, 5.0, 4.0, 7.0, 6.0]);
    let plain = pairs(&x, &y);
    for scale in [1e-300, 1e-160, 1e160, 1e300] {
        let scaled = pairs(&x.map(|x| x * scale), &y);
        assert_near(scaled.plcc().unwrap(), plain.plcc().unwrap(), 1e-14, "plcc");
        assert_eq!(scaled.srcc().unwrap(), plain.srcc().unwrap());
        assert_eq!(scaled.krcc().unwrap(), plain.krcc().unwrap());
        assert_near(fit(&scaled).unwrap().plcc.unwrap(), fit(&plain).unwrap().plcc.unwrap(), 1e-9, "fitted");
    }
    let odd = Pairs::new([(f64::NAN, 1.0), (1.0, f64::INFINITY), (-0.0, 1.0), (0.0, 2.0)]);
    assert_eq!((odd.len(), odd.plcc().is_err()), (2, true), "what is not finite is left out, and -0 is 0");
}

/// Every coefficient of the reference file: human scores with each other, and four synthetic predictors with heavy ties, in all
/// images and by generator; fits against the interior minima where there are any.
#[test]
fn the_reference_numbers_of_agiqa_3k() {
    let (Some(reference), Some(data)) =
        (shared("reference/agiqa_fager_reference.json"), shared("datasets/agiqa-3k/data.csv"))
    else {
        return;
    };
    let reference: Value = serde_json::from_slice(&std::fs::read(reference).unwrap()).unwrap();
    let reference = &reference["agiqa3k"];
    let rows: Vec<Row> = csv::Reader::from_path(data).unwrap().deserialize().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 2982);
    let group = |name: &str| -> Vec<(usize, &Row)> {
        let generator = name.strip_prefix("generator=");
        rows.iter()
            .enumerate()
            .filter(|(_, row)| generator.is_none_or(|g| row.name.starts_with(&format!("{g}_"))))
            .collect()
    };
    let mut coefficients = 0;
    let mut check = |found: &Pairs, wanted: &Value, place: &str| {
        let number = |key: &str| wanted[key].as_f64().unwrap();
        assert_eq!(found.len() as u64, wanted["n"].as_u64().unwrap(), "{place}");
        assert_near(found.srcc().unwrap(), number("srcc"), 1e-12, &format!("{place} srcc"));
        assert_near(found.krcc().unwrap(), number("krcc_tau_b"), 1e-12, &format!("{place} krcc"));
        assert_near(found.plcc().unwrap(), number("plcc"), 1e-12, &format!("{place} plcc"));
        coefficients += 3;
    };
    for (name, wanted) in reference["quality_vs_align"].as_object().unwrap() {
        let found = Pairs::new(group(name).iter().map(|(_, row)| (row.mos_quality, row.mos_align)));
        check(&found, wanted, name);
    }
    let mut interior = 0;
    for (predictor, wanted) in reference["synthetic_predictors"].as_object().unwrap() {
        let Some(groups) = wanted["groups"].as_object() else { continue };
        for (name, wanted) in groups {
            let found = Pairs::new(group(name).iter().map(|(at, row)| predicted(predictor, *at, row)));
            let place = format!("{predictor} {name}");
            check(&found, wanted, &place);
            let fitted = fit(&found).unwrap();
            let n = found.len() as f64;
            assert_near(fitted.rmse, (fitted.sse / n).sqrt(), 1e-15, &place);
            let line = wanted["linear_fit"]["sse"].as_f64().unwrap();
            assert!(fitted.sse <= line * (1.0 + 1e-12), "{place}: {} above the line's {line}", fitted.sse);
            assert!(fitted.betas[1] > 0.0, "{place}");
            // A straight map of the predictions leaves the fitted coefficient where it is.
            for slope in [2.0, -0.5] {
                let turned = Pairs::new(found.x.iter().zip(&found.y).map(|(x, y)| (x * slope + 3.0, *y)));
                let turned = fit(&turned).unwrap();
                assert_near(turned.plcc.unwrap(), fitted.plcc.unwrap(), 1e-9, &format!("{place} times {slope}"));
            }
            let best = &wanted["logistic5_interior_best"];
            if let Some(sse) = best["sse"].as_f64() {
                interior += 1;
                assert!(
                    fitted.sse <= sse * (1.0 + 1e-9),
                    "{place}: {} instead of {sse}, converged {}",
                    fitted.sse,
                    fitted.converged
                );
            }
        }
    }
    assert_eq!((coefficients, interior), (69, 10));
}

#[derive(serde::Deserialize)]
struct Row {
    name: String,
    mos_quality: f64,
    mos_align: f64,
}

/// The synthetic predictors, as the reference file defines them.
fn predicted(predictor: &str, at: usize, row: &Row) -> (f64, f64) {
    let u = ((at as u64 * 2_654_435_761) % (1 << 32)) as f64 / (1_u64 << 32) as f64;
    match predictor {
        "P1_linear" => (0.6 * row.mos_quality + 0.1 * u, row.mos_quality),
        "P2_sigmoid" => (100.0 / (1.0 + (-1.5 * (row.mos_quality - 2.2)).exp()) + 20.0 * (u - 0.5), row.mos_quality),
        "P3_ties" => ((4.0 * row.mos_align + 2.0 * u).floor(), row.mos_align),
        "P4_inverse" => (1.0 / (0.5 + row.mos_align) + 0.2 * u, row.mos_align),
        other => panic!("{other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The order of the pairs changes nothing, and a straight map of the predictions no coefficient of ranks.
    #[test]
    fn order_and_scale_change_nothing(
        values in proptest::collection::vec((-8_i8..8, -8_i8..8), 2..60),
        seed in 0_u64..1000,
        slope in prop_oneof![Just(-3.0), Just(0.25), Just(2.0)],
    ) {
        let plain: Vec<(f64, f64)> = values.iter().map(|(x, y)| (f64::from(*x), f64::from(*y))).collect();
        let mut mixed = plain.clone();
        let n = mixed.len();
        (0..n).for_each(|at| mixed.swap(at, (at * 7919 + seed as usize) % n));
        let (a, b) = (Pairs::new(plain.iter().copied()), Pairs::new(mixed));
        prop_assert_eq!(a.srcc(), b.srcc());
        prop_assert_eq!(a.krcc(), b.krcc());
        prop_assert_eq!(a.plcc(), b.plcc());
        prop_assert_eq!(a.krcc().ok(), slow_tau_b(&plain).filter(|_| a.krcc().is_ok()));
        let turned = Pairs::new(plain.iter().map(|(x, y)| (x * slope + 5.0, *y)));
        if let (Ok(one), Ok(other)) = (a.srcc(), turned.srcc()) {
            prop_assert!((one - other * f64::signum(slope)).abs() < 1e-12);
        }
        prop_assert_eq!(fit(&a).ok(), fit(&b).ok());
    }
}

/// Kendall's tau-b by its definition.
fn slow_tau_b(pairs: &[(f64, f64)]) -> Option<f64> {
    let (mut difference, mut x_untied, mut y_untied) = (0_i64, 0_i64, 0_i64);
    for (at, a) in pairs.iter().enumerate() {
        for b in &pairs[..at] {
            let (x, y) = (a.0.total_cmp(&b.0) as i64, a.1.total_cmp(&b.1) as i64);
            difference += x * y;
            x_untied += x * x;
            y_untied += y * y;
        }
    }
    let base = (x_untied as f64 * y_untied as f64).sqrt();
    (base > 0.0).then(|| (difference as f64 / base).clamp(-1.0, 1.0))
}
