//! Intervals, tests and ranks against values of scipy and statsmodels (`tests/reference/make_statistics.py`), and what they promise.

use std::collections::BTreeMap;

use scorelake::assets::Assets;
use scorelake::correlation::Pairs;
use scorelake::pipeline::{Pipeline, PlannedIntervals, PlannedSample};
use scorelake::random::Random;
use scorelake::stats::{
    self, Board, Comparing, Drawn, Entry, Observations, Observed, Replicates, Resampling, Verdict, acceleration,
    normal, paired, proportion, ranks,
};
use serde_json::Value;

fn reference(name: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../reference/statistics.json")).unwrap();
    let cases = all[name].as_array().unwrap().clone();
    assert!(!cases.is_empty(), "{name}");
    cases
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[track_caller]
fn assert_same(found: f64, wanted: &Value, place: &str) {
    let wanted = wanted.as_f64().unwrap();
    let near = (found - wanted).abs() <= 1e-12 * wanted.abs().max(f64::MIN_POSITIVE) || (found - wanted).abs() < 1e-15;
    assert!(near, "{place}: {found} instead of {wanted}");
}

#[test]
fn wilson_intervals() {
    for case in reference("wilson") {
        let (k, n) = (case["k"].as_u64().unwrap(), case["n"].as_u64().unwrap());
        let found = proportion::wilson(k, n, case["confidence"].as_f64().unwrap()).unwrap();
        assert_same(found.low, &case["low"], &format!("{case}"));
        assert_same(found.high, &case["high"], &format!("{case}"));
    }
    // C17: none of 25 has an upper bound, and all of 25 a lower one.
    let none = proportion::wilson(0, 25, 0.95).unwrap();
    assert_eq!(none.low, 0.0);
    assert!((none.high - 0.133).abs() < 0.0005);
    let all = proportion::wilson(25, 25, 0.95).unwrap();
    assert!((all.low - 0.867).abs() < 0.0005 && all.high == 1.0);
    assert!(proportion::wilson(0, 0, 0.95).is_none());
}

#[test]
fn bootstrap_intervals_of_known_replicates() {
    for case in reference("bca") {
        let sample = numbers(&case["sample"]);
        let replicates = Replicates::new(numbers(&case["replicates"]));
        let confidence = case["confidence"].as_f64().unwrap();
        let percentile = replicates.percentile(confidence).unwrap();
        let mean = sample.iter().sum::<f64>() / sample.len() as f64;
        let bca = replicates.bca(mean, acceleration(sample.iter().copied()).unwrap(), confidence).unwrap();
        for (found, wanted) in [
            (percentile.low, "percentile_low"),
            (percentile.high, "percentile_high"),
            (bca.low, "bca_low"),
            (bca.high, "bca_high"),
        ] {
            let wanted_value = case[wanted].as_f64().unwrap();
            assert!(
                (found - wanted_value).abs() < 1e-9,
                "{} {wanted}: {found} instead of {wanted_value}",
                case["name"]
            );
        }
    }
}

#[test]
fn signed_ranks_signs_and_corrections() {
    for case in reference("wilcoxon") {
        let found = paired::wilcoxon(&numbers(&case["differences"]));
        assert_same(found.w_plus, &case["w_plus"], "W+");
        assert_eq!(found.n as u64, case["n_nonzero"].as_u64().unwrap());
        let wanted = if found.is_exact { &case["exact_p"] } else { &case["approx_p"] };
        assert_same(found.p, wanted, &format!("Wilcoxon of {}", case["differences"]));
    }
    for case in reference("mcnemar") {
        let count = |name: &str| case[name].as_u64().unwrap();
        assert_same(paired::sign_test(count("b"), count("c")), &case["p"], "McNemar");
    }
    for case in reference("sign") {
        let count = |name: &str| case[name].as_u64().unwrap();
        assert_same(paired::sign_test(count("better"), count("worse")), &case["p"], "sign test");
    }
    for case in reference("holm") {
        for (found, wanted) in paired::holm(&numbers(&case["p"])).into_iter().zip(case["adjusted"].as_array().unwrap())
        {
            assert_same(found, wanted, "Holm");
        }
    }
    for case in reference("paired") {
        let differences: Vec<f64> = numbers(&case["a"]).iter().zip(numbers(&case["b"])).map(|(a, b)| a - b).collect();
        assert_same(paired::cohen_dz(&differences).unwrap(), &case["cohen_dz"], "d");
        assert_same(paired::rank_biserial(&differences).unwrap(), &case["rank_biserial"], "r");
    }
}

#[test]
fn coefficients_ranks_and_distributions() {
    for case in reference("correlation") {
        let pairs = Pairs::new(numbers(&case["x"]).into_iter().zip(numbers(&case["y"])));
        assert_same(pairs.srcc().unwrap(), &case["spearman"], "Spearman");
        assert_same(pairs.krcc().unwrap(), &case["kendall_b"], "tau-b");
        assert_same(pairs.plcc().unwrap(), &case["pearson"], "Pearson");
    }
    for case in reference("ranks") {
        let places: Vec<Value> = ranks::places(&numbers(&case["scores"])).into_iter().map(Value::from).collect();
        assert_eq!(Value::from(places), case["rank"]);
    }
    for case in reference("fisher") {
        let (r, n) = (case["r"].as_f64().unwrap(), case["n"].as_u64().unwrap());
        let found = stats::fisher(r, n, case["confidence"].as_f64().unwrap()).unwrap();
        assert_same(found.low, &case["low"], "Fisher");
        assert_same(found.high, &case["high"], "Fisher");
    }
    for case in reference("chi2") {
        let counts = |name: &str| -> Vec<u64> { numbers(&case[name]).iter().map(|count| *count as u64).collect() };
        let (statistic, df) = stats::chi_squared(&counts("a"), &counts("b"));
        assert_same(statistic, &case["statistic"], "chi-squared");
        assert_same(stats::chi_squared_p(statistic, df).unwrap(), &case["p"], "its p");
    }
    let all: Value = serde_json::from_str(include_str!("../reference/statistics.json")).unwrap();
    for (name, of) in [("cdf", normal::cdf as fn(f64) -> f64), ("ppf", normal::quantile)] {
        for case in all["normal"][name].as_array().unwrap() {
            let (x, wanted) = (case[0].as_f64().unwrap(), case[1].as_f64().unwrap());
            assert!((of(x) - wanted).abs() <= 2e-12 * wanted.abs(), "{name} {x}: {} instead of {wanted}", of(x));
        }
    }
}

/// C19: eight discordant prompts that all go one way: unpaired the difference may be chance, paired it is not.
#[test]
fn c19_pairing_decides() {
    assert!((proportion::unpaired(15, 220, 7, 220).unwrap() - 0.0801).abs() < 5e-5);
    assert!((paired::sign_test(8, 0) - 0.0078).abs() < 5e-5);
}

/// Intervals of a mean hold the true one in 93 to 97 of 100 samples of 200 prompts, whatever the shape of the scores.
#[test]
fn intervals_hold_what_they_promise() {
    const SAMPLES: usize = 4_000;
    const UNITS: usize = 200;
    type Shape = (&'static str, f64, fn(f64) -> f64);
    // Cells of 0, 60 and 100 as judges give them, and a skewed score.
    let shapes: [Shape; 2] = [
        ("judged", 0.3 * 60.0 + 0.45 * 100.0, |u| {
            if u < 0.25 {
                0.0
            } else if u < 0.55 {
                60.0
            } else {
                100.0
            }
        }),
        ("skewed", 100.0 / 4.0, |u| 100.0 * u * u * u),
    ];
    for (shape, (name, truth, draw)) in shapes.into_iter().enumerate() {
        let sample = |at: usize| -> Vec<f64> {
            let mut random = Random::at(12, &[shape as u64, at as u64]);
            (0..UNITS).map(|_| draw(random.unit())).collect()
        };
        let samples: Vec<Vec<f64>> = (0..SAMPLES).map(sample).collect();
        let columns: Vec<&[f64]> = samples.iter().map(Vec::as_slice).collect();
        let means = Resampling { replicates: 1_000, seed: 6 }.means(UNITS, &columns);
        let mut held = [0; 2];
        for (sample, means) in samples.iter().zip(means) {
            let replicates = Replicates::new(means);
            let mean = sample.iter().sum::<f64>() / UNITS as f64;
            let percentile = replicates.percentile(0.95).unwrap();
            let bca = replicates.bca(mean, acceleration(sample.iter().copied()).unwrap(), 0.95).unwrap();
            for (held, bounds) in held.iter_mut().zip([percentile, bca]) {
                *held += usize::from(bounds.low <= truth && truth <= bounds.high);
            }
        }
        for (method, held) in ["percentile", "bca"].into_iter().zip(held) {
            let share = held as f64 / SAMPLES as f64;
            assert!((0.93..=0.97).contains(&share), "{name} {method}: {share}");
        }
    }
}

/// Of Wilson's intervals the chance is known exactly: the binomial chances of the counts whose interval holds the true share.
#[test]
fn wilson_holds_what_it_promises() {
    let n = 200_u64;
    let mut mean = 0.0;
    for percent in (5..=95).step_by(5) {
        let share = f64::from(percent) / 100.0;
        let chance = |k: u64| {
            let ln = |x: u64| libm::lgamma(x as f64 + 1.0);
            (ln(n) - ln(k) - ln(n - k) + k as f64 * share.ln() + (n - k) as f64 * (1.0 - share).ln()).exp()
        };
        let holds = |k: &u64| {
            let bounds = proportion::wilson(*k, n, 0.95).unwrap();
            bounds.low <= share && share <= bounds.high
        };
        let held: f64 = (0..=n).filter(holds).map(chance).sum();
        assert!((0.93..=0.97).contains(&held), "{share}: {held}");
        mean += held / 19.0;
    }
    assert!((0.945..=0.955).contains(&mean), "{mean}");
}

/// The sample of Qwen-Image-Bench that ranks, and how its intervals are made, with fewer replicates.
fn ranking() -> (PlannedSample, PlannedIntervals) {
    let assets = Assets::embedded();
    let pipeline = Pipeline::load(&assets, "qwen-image-bench").unwrap();
    let sample = pipeline.planned_samples(&assets).unwrap().into_iter().find(|sample| sample.entry.ranks).unwrap();
    let intervals =
        PlannedIntervals { samples: vec![sample.entry.name.clone()], confidence: 0.95, replicates: 500, seed: 3 };
    (sample, intervals)
}

fn entry(model: &str) -> Entry {
    Entry { scope: "cn".into(), model: model.into(), model_revision: String::new(), judge: String::new() }
}

/// Scores of models on prompts that are harder or easier for all of them.
fn observed(seed: u64, units: usize, skills: &[(&str, f64)]) -> Observations {
    let column = |(place, (model, skill)): (usize, &(&str, f64))| Observed {
        entry: entry(model),
        item: String::new(),
        sample: 0,
        values: (0..units)
            .map(|unit| {
                let ease = 30.0 * Random::at(seed, &[1, unit as u64]).unit();
                let luck = 40.0 * Random::at(seed, &[2, unit as u64, place as u64]).unit();
                ease + luck + skill
            })
            .collect(),
    };
    Observations {
        units: (0..units).map(|unit| format!("{unit:04}")).collect(),
        columns: skills.iter().enumerate().map(column).collect(),
    }
}

/// Rank groups of a board by model.
fn groups(observations: Observations) -> BTreeMap<String, String> {
    let (sample, plan) = ranking();
    let columns: Vec<&[f64]> = observations.columns.iter().map(|column| column.values.as_slice()).collect();
    let means = Resampling { replicates: plan.replicates, seed: plan.seed }.means(observations.units.len(), &columns);
    let scores: Vec<f64> = observations
        .columns
        .iter()
        .map(|column| column.values.iter().sum::<f64>() / column.values.len() as f64)
        .collect();
    let board: BTreeMap<Entry, Option<i64>> = observations
        .columns
        .iter()
        .zip(ranks::places(&scores))
        .map(|(column, place)| (column.entry.clone(), place.map(|place| place as i64)))
        .collect();
    let standings = stats::standings(&sample, &[(observations, means)], &[&sample], &[], &board, &plan);
    standings.into_iter().map(|standing| (standing.entry.model, standing.groups.unwrap())).collect()
}

/// Two models of one skill share a group in 95 of 100 seeds, by chance a few more or less; a real gap parts them in every one.
#[test]
fn equal_skill_shares_a_group_and_a_gap_does_not() {
    let together = |gap: f64| {
        let one = |seed: u64| {
            let groups = groups(observed(seed, 200, &[("a", 0.0), ("b", gap)]));
            groups["a"] == groups["b"]
        };
        (0..100).filter(|seed| one(*seed)).count()
    };
    let equal = together(0.0);
    assert!(equal >= 95, "{equal} of 100");
    assert_eq!(together(8.0), 0);
}

/// A model between two that differ is in the groups of both: no test parts it from either.
#[test]
fn a_model_between_is_in_two_groups() {
    let parted = |a: usize, b: usize| (a, b) == (0, 2);
    assert_eq!(ranks::groups(3, parted), [vec![1], vec![1, 2], vec![2]]);
    assert_eq!(ranks::groups(3, |_, _| false), [vec![1], vec![1], vec![1]]);
    assert_eq!(ranks::groups(3, |_, _| true), [vec![1], vec![2], vec![3]]);
}

/// C27: intervals that overlap do not make two models equal; the paired test says which is better.
#[test]
fn c27_overlapping_intervals_are_no_equality() {
    let (sample, plan) = ranking();
    let mut observations = observed(1, 60, &[("a", 0.0), ("b", 0.0)]);
    let better: Vec<f64> =
        observations.columns[0].values.iter().zip(0..).map(|(x, at)| x + 2.0 + f64::from(at % 3)).collect();
    observations.columns[1].values = better;
    let pairs = [(entry("b"), entry("a"))];
    let comparing = Comparing::new(&plan, None);
    let found = stats::compare(&[&sample], std::slice::from_ref(&observations), &pairs, comparing);
    assert_eq!((found[0].verdict, found[0].better), (Verdict::FirstBetter, 60));
    let interval = |model: usize| {
        let values = observations.columns[model].values.as_slice();
        let means = Resampling { replicates: 500, seed: 3 }.means(60, &[values]).remove(0);
        Replicates::new(means).percentile(0.95).unwrap()
    };
    assert!(interval(0).high > interval(1).low, "the intervals overlap");
    // Within a wide margin both are equivalent, though they differ.
    let wide = stats::compare(&[&sample], &[observations], &pairs, Comparing::new(&plan, Some(20.0)));
    assert_eq!(wide[0].verdict, Verdict::EquivalentThoughDifferent);
}

/// Where most prompts go one way, significantly, and the mean the other, neither model is called better, and both share a group.
#[test]
fn mean_and_most_prompts_may_disagree() {
    let (sample, plan) = ranking();
    let mut observations = observed(3, 45, &[("a", 0.0), ("b", 0.0)]);
    observations.columns[0].values = vec![50.0; 45];
    // On 40 of 45 prompts b is better by a little, on 5 a is better by much.
    observations.columns[1].values =
        (0..45).map(|at| if at < 40 { 51.0 + f64::from(at) / 100.0 } else { 20.0 }).collect();
    let pairs = [(entry("a"), entry("b"))];
    let found = stats::compare(&[&sample], std::slice::from_ref(&observations), &pairs, Comparing::new(&plan, None));
    let one = &found[0];
    assert!(one.difference.unwrap() > 0.0 && one.p_holm < 0.05 && one.rank_biserial.unwrap() < 0.0, "{one:?}");
    assert_eq!((one.better, one.worse, one.verdict), (5, 40, Verdict::Mixed));
    let groups = groups(observations);
    assert_eq!(groups["a"], groups["b"]);
}

/// A pair with no prompt in common has no difference, and identical columns are equivalent within any margin.
#[test]
fn nothing_in_common_and_nothing_different() {
    let (sample, plan) = ranking();
    let mut observations = observed(2, 20, &[("a", 0.0), ("b", 0.0)]);
    let pairs = [(entry("a"), entry("b"))];
    observations.columns[1].values = observations.columns[0].values.clone();
    let same =
        stats::compare(&[&sample], std::slice::from_ref(&observations), &pairs, Comparing::new(&plan, Some(0.1)));
    assert_eq!((same[0].verdict, same[0].same, same[0].p_holm), (Verdict::Identical, 20, 1.0));
    for (at, value) in observations.columns[0].values.iter_mut().enumerate() {
        *value = if at < 10 { *value } else { f64::NAN };
    }
    for (at, value) in observations.columns[1].values.iter_mut().enumerate() {
        *value = if at < 10 { f64::NAN } else { *value };
    }
    let none = stats::compare(&[&sample], &[observations], &pairs, Comparing::new(&plan, None));
    assert_eq!((none[0].verdict, none[0].n, none[0].difference), (Verdict::NoCommonUnit, 0, None));
}

/// Rankings of few models: over prompts where there are some, over models else, and nothing where nothing can be said.
#[test]
fn agreement_of_rankings() {
    let (_, plan) = ranking();
    let board = |scores: &[f64]| Board { scores: scores.to_vec(), replicates: None };
    let same = stats::rankings(&board(&[1.0, 2.0, 3.0, 4.0, 5.0]), &board(&[2.0, 4.0, 6.0, 8.0, 9.0]), &plan);
    assert_eq!((same[0].statistic, same[0].estimate, same[0].drawn), ("srcc", Some(1.0), Drawn::Models));
    assert_eq!((same[1].statistic, same[1].estimate), ("krcc", Some(1.0)));
    assert!(same[0].bounds.is_some());
    let few = stats::rankings(&board(&[1.0, 2.0]), &board(&[1.0, 2.0]), &plan);
    assert_eq!((few[0].bounds, few[0].reason.as_deref()), (None, Some("too few models")));
    let constant = stats::rankings(&board(&[1.0, 1.0, 1.0, 1.0]), &board(&[1.0, 2.0, 3.0, 4.0]), &plan);
    assert_eq!((constant[0].estimate, constant[0].reason.as_deref()), (None, Some("constant input")));
    // Replicates that swap two models now and then widen the interval.
    let replicates = (0..4)
        .map(|model| (0..500).map(|at| f64::from(model) + if at % 5 == 0 && model == 1 { 1.5 } else { 0.0 }).collect())
        .collect();
    let drawn = Board { scores: vec![0.0, 1.0, 2.0, 3.0], replicates: Some(replicates) };
    let found = stats::rankings(&drawn, &board(&[0.0, 1.0, 2.0, 3.0]), &plan);
    assert_eq!((found[0].drawn, found[0].estimate), (Drawn::Prompts, Some(1.0)));
    assert!((found[0].bounds.unwrap().low - 0.8).abs() < 1e-12 && found[0].bounds.unwrap().high == 1.0);
}

/// Above 20,000 pairs the methods are the jackknife and Fisher's, whose widths are those of theory and of the bootstrap just below.
#[test]
fn many_pairs_have_other_methods() {
    let (_, plan) = ranking();
    let pairs = |n: usize| -> Vec<(f64, f64)> {
        let mut random = Random::at(17, &[n as u64]);
        let normal = |random: &mut Random| normal::quantile(random.unit().max(1e-12));
        (0..n)
            .map(|_| {
                let x = normal(&mut random);
                (x, 0.6 * x + 0.8 * normal(&mut random))
            })
            .collect()
    };
    let many = stats::coefficient_intervals(&pairs(20_001), &plan);
    let methods: Vec<_> = many.iter().map(|one| (one.statistic, one.method)).collect();
    assert_eq!(methods, [("srcc", "jackknife"), ("krcc", "jackknife"), ("plcc", "fisher")]);
    let width = |one: &stats::CoefficientInterval| {
        let bounds = one.bounds.unwrap();
        assert!(bounds.low < one.estimate.unwrap() && one.estimate.unwrap() < bounds.high);
        bounds.high - bounds.low
    };
    // 2 z (1 - r^2) / sqrt(n) for PLCC of normal pairs.
    let theory = 2.0 * 1.96 * (1.0 - 0.36) / 20_001_f64.sqrt();
    assert!((width(&many[2]) / theory - 1.0).abs() < 0.05, "{}", width(&many[2]));
    // The bootstrap of a tenth of the pairs is √10 times as wide.
    let few = stats::coefficient_intervals(&pairs(2_000), &PlannedIntervals { replicates: 300, ..plan });
    for one in &many[..2] {
        let same = few.iter().find(|other| other.statistic == one.statistic && other.method == "percentile").unwrap();
        let ratio = width(same) / width(one) / (20_001.0_f64 / 2_000.0).sqrt();
        assert!((0.75..1.35).contains(&ratio), "{}: {ratio}", one.statistic);
    }
}
