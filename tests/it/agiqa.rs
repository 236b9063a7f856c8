//! AGIQA-3K: the real file, agreement through the whole tool, MOS from ratings, and the cases about them.

use scorelake::python::round2;
use serde_json::{Value, json};

use super::util::{Workdir, project, shared};

#[track_caller]
fn assert_near(found: &Value, wanted: f64, place: &str) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{place}: {found}"));
    assert!((found - wanted).abs() <= 1e-12, "{place}: {found} instead of {wanted}");
}

/// The group of the reference file: `all` or `generator=NAME`.
fn group(name: &str) -> (&str, &str) {
    name.split_once('=').unwrap_or(("all", "all"))
}

/// The real file with two synthetic metrics beside it: every mean, deviation, coefficient and count of the reference.
#[test]
fn the_real_file_gives_the_reference_numbers() {
    let (Some(reference), Some(data)) =
        (shared("reference/agiqa_fager_reference.json"), shared("datasets/agiqa-3k/data.csv"))
    else {
        return;
    };
    let reference: Value = serde_json::from_slice(&std::fs::read(reference).unwrap()).unwrap();
    let reference = &reference["agiqa3k"];
    let work = Workdir::new();
    work.write("metrics.csv", metrics(&data));
    let ran = work
        .run(&["run", "agiqa-3k", data.to_str().unwrap(), "metrics.csv", "--direction", "P4_inverse=lower", "-q"])
        .expect(0);
    assert!(ran.stdout.contains("generator"), "{}", ran.stdout);
    let mos = work.sql("SELECT * FROM agiqa_3k.mos_by_group");
    let find = |kind: &str, name: &str, target: &str| {
        let found =
            mos.iter().find(|row| row["group_kind"] == kind && row["group_name"] == name && row["target"] == target);
        found.unwrap_or_else(|| panic!("{kind} {name} {target}"))
    };
    for (name, wanted) in reference["descriptives"].as_object().unwrap() {
        let (kind, value) = group(name);
        for (target, column) in [("quality", "mos_quality"), ("align", "mos_align")] {
            let found = find(kind, value, target);
            assert_eq!(found["n"], wanted["n"], "{name}");
            for (ours, theirs) in
                [("mean", "mean"), ("sd", "std_ddof1"), ("minimum", "min"), ("median", "median"), ("maximum", "max")]
            {
                assert_near(&found[ours], wanted[column][theirs].as_f64().unwrap(), &format!("{name} {column} {ours}"));
            }
        }
    }
    assert_eq!(round2(find("variant", "lowstep", "quality")["mean"].as_f64().unwrap()), 2.57);
    assert_eq!(round2(find("variant", "normal", "quality")["mean"].as_f64().unwrap()), 2.41);
    assert_eq!(round2(find("generator_variant", "midjourney|lowstep", "quality")["mean"].as_f64().unwrap()), 2.39);
    assert_eq!(round2(find("generator_variant", "midjourney|normal", "quality")["mean"].as_f64().unwrap()), 3.63);
    for (kind, groups) in [
        ("generator", 6),
        ("variant", 4),
        ("generator_variant", 10),
        ("style", 6),
        ("style_group", 4),
        ("length", 4),
        ("tier", 3),
        ("generator_length", 24),
        ("generator_style", 36),
        ("all", 1),
    ] {
        assert_eq!(
            mos.iter().filter(|row| row["group_kind"] == kind && row["target"] == "align").count(),
            groups,
            "{kind}"
        );
    }
    for (length, rows) in reference["counts"]["length_rows"].as_object().unwrap() {
        assert_eq!(find("length", length, "align")["n"], *rows);
    }
    for (prefix, rows) in reference["counts"]["prefix_counts"].as_object().unwrap() {
        assert_eq!(find("generator_variant", &prefix.replace('_', "|"), "align")["n"], *rows);
    }
    let agreement = work.sql("SELECT * FROM agiqa_3k.agreement WHERE group_kind IN ('all', 'generator')");
    let mut checked = 0;
    let mut check = |metric: &str, target: &str, name: &str, wanted: &Value| {
        let (kind, value) = group(name);
        let found = agreement.iter().find(|row| {
            row["metric"] == metric
                && row["target"] == target
                && row["group_kind"] == kind
                && row["group_name"] == value
        });
        let found = found.unwrap_or_else(|| panic!("{metric} {target} {name}"));
        assert_eq!(found["n"], wanted["n"]);
        assert_eq!(found["reason"], Value::Null);
        for (ours, theirs) in [("srcc", "srcc"), ("krcc", "krcc_tau_b"), ("plcc", "plcc")] {
            assert_near(&found[ours], wanted[theirs].as_f64().unwrap(), &format!("{metric} {target} {name} {ours}"));
        }
        checked += 1;
    };
    for (name, wanted) in reference["quality_vs_align"].as_object().unwrap() {
        check("mos_quality", "align", name, wanted);
    }
    for (metric, wanted) in reference["synthetic_predictors"].as_object().unwrap() {
        // The other two are held against the library alone, in `correlation`.
        let Some(groups) =
            wanted["groups"].as_object().filter(|_| ["P3_ties", "P4_inverse"].contains(&metric.as_str()))
        else {
            continue;
        };
        let target = wanted["target"].as_str().unwrap().trim_start_matches("mos_");
        groups.iter().for_each(|(name, wanted)| check(metric, target, name, wanted));
    }
    assert_eq!(checked, 7 + 8);
    // Case C13: a metric of which lower is better keeps its sign.
    let inverse = work.row("SELECT srcc, direction FROM agiqa_3k.agreement WHERE metric = 'P4_inverse' AND target = 'align' AND group_kind = 'all'");
    assert!(inverse["srcc"].as_f64().unwrap() < -0.8);
    assert_eq!(inverse["direction"], "lower is better");
    // The file itself, as it was looked at by hand.
    let row = work.row(
        "SELECT count(*) AS n, count(DISTINCT prompt) AS prompts, count(DISTINCT subject) AS subjects,
            count(CASE WHEN subject LIKE '% ' THEN 1 END) AS trailing, count(DISTINCT prompt_number) AS numbers,
            count(CASE WHEN mos_quality = 0.0 THEN 1 END) AS floored, count(CASE WHEN subject LIKE '%,%' THEN 1 END) AS commas
         FROM agiqa_3k.images",
    );
    assert_eq!(
        row,
        json!({"n": 2982, "prompts": 300, "subjects": 300, "trailing": 219, "numbers": 300, "floored": 8, "commas": 0})
    );
    assert_eq!(
        work.row("SELECT expected, ok, missing FROM agiqa_3k.ledger WHERE metric = 'P3_ties' AND level = 'all'"),
        json!({"expected": 2982, "ok": 2982, "missing": 0})
    );
}

/// Two of the synthetic predictors of the reference file.
fn metrics(data: &std::path::Path) -> String {
    let mut out = String::from("name,P3_ties,P4_inverse\n");
    for (at, row) in csv::Reader::from_path(data).unwrap().records().map(Result::unwrap).enumerate() {
        let align: f64 = row[7].parse().unwrap();
        let u = ((at as u64 * 2_654_435_761) % (1 << 32)) as f64 / (1_u64 << 32) as f64;
        out += &format!("{},{:?},{:?}\n", &row[0], (4.0 * align + 2.0 * u).floor(), 1.0 / (0.5 + align) + 0.2 * u);
    }
    out
}

const HEADER: &str = "name,prompt,adj1,adj2,style,mos_quality,std_quality,mos_align,std_align\r\n";

fn images(n: u32) -> String {
    let row = |k: u32| {
        format!(
            "my_gen_normal_{k:03}.jpg,\"a cat , soft lighting\",soft lighting,,,{k}.5,0.1,{}.25,0.2\r\n",
            (k * 7) % 5
        )
    };
    HEADER.to_owned() + &(0..n).map(row).collect::<String>()
}

/// Cases D01, D02, D09, D16, D21, D22 on this dataset's file, and names from the right.
#[test]
fn files_as_people_have_them() {
    let work = Workdir::new();
    work.write("data.csv", format!("\u{feff}{}", images(8).trim_end()));
    work.run(&["run", "agiqa-3k", "data.csv", "-q"]).expect(0);
    let row = work.row(
        "SELECT count(*) AS n, min(generator) AS generator, min(variant) AS variant, max(prompt_number) AS last, max(std_align) AS sd,
            min(subject) AS subject, min(length) AS length, count(style) AS styles
         FROM agiqa_3k.images",
    );
    assert_eq!(
        row,
        json!({"n": 8, "generator": "my_gen", "variant": "normal", "last": 7, "sd": 0.2, "subject": "a cat ", "length": 1, "styles": 0})
    );
    let groups = work
        .sql("SELECT DISTINCT group_name FROM agiqa_3k.mos_by_group WHERE group_kind IN ('tier', 'style') ORDER BY 1");
    assert_eq!(groups, [json!({"group_name": "(none)"})]);
    let bad = images(3) + "\r\nmy_gen_normal_009.jpg,a,b,,,high,0.1,1,0.2\r\nx_y_1.jpg,a,,,,1,1,1,1,1\r\n";
    work.write("bad.csv", &bad);
    let ran = work.run(&["--lake", "other", "run", "agiqa-3k", "bad.csv"]).expect(1);
    for word in ["bad.csv", "line: 6", "`mos_quality` is high where a number is due"] {
        assert!(ran.stderr.contains(word), "{}", ran.stderr);
    }
    work.run(&["--lake", "other", "run", "agiqa-3k", "bad.csv", "--on-error", "reject", "-q"]).expect(3);
    let rejects = work.json(&["--lake", "other", "sql", "SELECT line, reason FROM agiqa_3k.rejects ORDER BY line"]);
    assert_eq!(rejects[0]["line"], 6);
    assert_eq!(rejects[1], json!({"line": 7, "reason": "10 fields where the header has 9"}));
}

/// Predictions: missing, invalid and unknown images are counted; undefined is null with its reason (C03).
#[test]
fn predictions_are_accounted_for() {
    let work = Workdir::new();
    work.write("data.csv", images(8));
    let mut text = String::new();
    for k in 0..8 {
        let same = if k < 4 { "7" } else { "7.0" };
        let some = ["0.1", "null", "NaN", "\"broken\"", "0.5", "0.2", "Infinity", "0.4"][k];
        text += &format!(
            "{{\"name\": \"my_gen_normal_{k:03}.jpg\", \"same\": {same}, \"some\": {some}, \"prompt\": \"a\"}}\n"
        );
    }
    text += "{\"name\": \"stranger_normal_001.jpg\", \"some\": 1}\n";
    work.write("metrics.jsonl", &text);
    let ran = work.run(&["run", "agiqa-3k", "data.csv", "metrics.jsonl"]).expect(3);
    for word in
        ["1 predictions are about images without human scores", "some 4", "values that are no finite number in some: 2"]
    {
        assert!(ran.stderr.contains(word), "`{word}`: {}", ran.stderr);
    }
    assert_eq!(
        work.row("SELECT expected, ok, missing, invalid, unexpected FROM agiqa_3k.ledger WHERE metric = 'some' AND level = 'all'"),
        json!({"expected": 8, "ok": 4, "missing": 2, "invalid": 2, "unexpected": 1})
    );
    let same = work.row("SELECT n, srcc, krcc, plcc, plcc_fitted, rmse, reason FROM agiqa_3k.agreement WHERE metric = 'same' AND target = 'quality' AND group_kind = 'all'");
    assert_eq!(
        same,
        json!({"n": 8, "srcc": null, "krcc": null, "plcc": null, "plcc_fitted": null, "rmse": null, "reason": "constant input"})
    );
    let some = work.row("SELECT n, srcc, plcc_fitted, reason FROM agiqa_3k.agreement WHERE metric = 'some' AND target = 'quality' AND group_kind = 'all'");
    assert_eq!((&some["n"], &some["reason"]), (&json!(4), &json!("no fit to fewer than 6 pairs")));
    assert!(some["srcc"].is_f64() && some["plcc_fitted"].is_null());
    // Another value of a metric for an image is a contradiction; the same one again is not.
    work.write("again.csv", "name,some\nmy_gen_normal_000.jpg,0.10\n");
    work.run(&["ingest", "agiqa-3k", "again.csv"]).expect(0);
    work.write("other.csv", "name,some\nmy_gen_normal_000.jpg,0.2\n");
    let ran = work.run(&["ingest", "agiqa-3k", "other.csv"]).expect(1);
    assert!(ran.stderr.contains("two different records about one image, metric or rating"), "{}", ran.stderr);
    let ran = work.run(&["ingest", "agiqa-3k", "other.csv", "--model", "x"]).expect(2);
    assert!(ran.stderr.contains("--model is not used: no file of agiqa-3k has it"), "{}", ran.stderr);
    // The aggregates, in SQL of one's own.
    let row = work.row("SELECT srcc(mos_quality, mos_align) AS s, krcc(mos_quality, mos_quality) AS k, plcc(-mos_quality, mos_quality) AS p FROM agiqa_3k.images");
    assert!(row["s"].is_f64());
    assert_eq!((&row["k"], &row["p"]), (&json!(1.0), &json!(-1.0)));
}

/// Two sessions on different scales, worked out by hand: items 1, 3 of session A have means 1 and 3 (mean 2, deviation √2), items
/// of session B 10 and 30.
#[test]
fn mos_from_ratings_by_hand() {
    let work = Workdir::new();
    let mut text = String::from("subject,session,item,score\n");
    for (session, factor) in [("A", 1.0), ("B", 10.0)] {
        for (subject, lift) in [("s1", -0.5), ("s2", 0.5)] {
            for item in [1, 3] {
                text += &format!("{subject},{session},{session}{item},{}\n", factor * (f64::from(item) + lift));
            }
        }
    }
    work.write("ratings.csv", &text);
    work.run(&["ingest", "agiqa-3k", "ratings.csv"]).expect(0);
    work.run(&["score", "mos_from_ratings", "-q"]).expect(0);
    let half = 0.5_f64.sqrt();
    for (item, wanted) in [("A1", 2.5 - half), ("A3", 2.5 + half), ("B1", 2.5 - half), ("B3", 2.5 + half)] {
        let row = work.row(&format!("SELECT mos, sd, n FROM agiqa_3k_session_means.mos WHERE item = '{item}'"));
        assert_near(&row["mos"], wanted, item);
        // The two ratings are half a point from their mean on either side, of a deviation of √2: sample deviation 0.5.
        assert_near(&row["sd"], 0.5, item);
        assert_eq!(row["n"], 2);
    }
    // Each subject's own ratings of a session are x and x + 2: standardised -√½ and √½, whoever rates.
    work.run(&["score", "mos_from_ratings", "--protocol", "subject_session", "-q"]).expect(0);
    for (item, wanted) in [("A1", 2.5 - half), ("B3", 2.5 + half)] {
        let row = work.row(&format!("SELECT mos, sd FROM agiqa_3k_subject_session.mos WHERE item = '{item}'"));
        assert_near(&row["mos"], wanted, item);
        assert_near(&row["sd"], 0.0, item);
    }
    // Parameters: scale and floor.
    work.run(&["score", "mos_from_ratings", "--set", "scale=10", "--set", "floor=0", "-q"]).expect(0);
    let shown = work.json(&["snapshot", "ls"]);
    assert_eq!(shown.as_array().unwrap().len(), 3, "{shown}");
    assert_eq!(
        work.row("SELECT metric, expected, ok, skipped FROM agiqa_3k_session_means.ledger WHERE level = 'all'"),
        json!({"metric": "ratings", "expected": 8, "ok": 8, "skipped": 0})
    );
    let checked = work.run(&["check", "mos_from_ratings"]).expect(0);
    assert_eq!(checked.stdout.matches("1 tables, 4 rows the same").count(), 2, "{}", checked.stdout);
}

#[test]
fn outliers_and_constant_raters_are_skipped_and_counted() {
    let work = Workdir::new();
    let mut text = String::from("subject,session,item,score\n");
    for (item, base) in [("a", 1.0), ("b", 2.0), ("c", 3.0)] {
        for subject in 0..6 {
            text += &format!("s{subject},1,{item},{}\n", base + 0.1 * f64::from(subject));
        }
        text += &format!("wild,1,{item},{}\nflat,2,{item},3\n", if item == "a" { 5.0 } else { base });
    }
    text += "s0,1,d,\ns1,1,d,abc\n";
    work.write("ratings.csv", &text);
    work.run(&["ingest", "agiqa-3k", "ratings.csv"]).expect(0);
    let ran =
        work.run(&["score", "mos_from_ratings", "--set", "outlier_sd=2", "--protocol", "subject_session"]).expect(0);
    assert!(ran.stderr.contains("4 ratings are left out: constant 3, outlier 1"), "{}", ran.stderr);
    let id = ran.stderr.split("snapshot ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let ledger = work.json(&["show", &format!("agiqa-3k@{id}"), "ledger"]);
    let all = ledger.as_array().unwrap().iter().find(|row| row["level"] == "all").unwrap().clone();
    for (column, wanted) in [("expected", 26), ("ok", 20), ("missing", 1), ("invalid", 1), ("skipped", 4)] {
        assert_eq!(all[column], wanted, "{column}: {all}");
    }
}

/// Pieces of prompts, their crops, and combined scores, worked out by hand.
#[test]
fn stair_by_hand() {
    let work = Workdir::new();
    work.write("prompts.csv", "prompt\n\"a man in the park, at night, 4.5 metres tall\"\nstatue\n\"!?\"\n");
    let plan = work.json(&["stair", "plan", "prompts.csv", "--size", "100x60"]);
    let plan = plan.as_array().unwrap();
    let texts: Vec<_> = plan.iter().map(|row| row["morpheme"].as_str().unwrap()).collect();
    assert_eq!(texts, ["a man", "in the park", "at night", "4.5 metres tall", "statue"]);
    assert_eq!(plan[0]["fraction"], 0.5);
    assert_eq!(plan[3]["fraction"], 1.0);
    assert_eq!([&plan[0]["x0"], &plan[0]["y0"], &plan[0]["x1"], &plan[0]["y1"]], [25, 15, 75, 45]);
    assert_near(&plan[0]["weight"], 8.0 / 15.0, "weight");
    assert_eq!((&plan[4]["n"], &plan[4]["weight"], &plan[4]["fraction"]), (&json!(1), &json!(1.0), &json!(1.0)));
    work.write("three.csv", "prompt\n\"a cat, cold color, anime style\"\n");
    for crops in ["even", "ratio"] {
        let plan = work.json(&["stair", "plan", "three.csv", "--crops", crops]);
        let fractions: Vec<_> = plan.as_array().unwrap().iter().map(|row| row["fraction"].as_f64().unwrap()).collect();
        assert_eq!(fractions, [0.5, 0.75, 1.0], "{crops}");
    }
    let dropped = work.json(&["stair", "plan", "prompts.csv", "--drop-prepositions"]);
    assert_eq!(dropped[1]["morpheme"], "the park");
    work.write("scores.jsonl", "{\"name\": \"a.jpg\", \"k\": 0, \"score\": 2}\n{\"name\": \"a.jpg\", \"k\": 1, \"score\": 1}\n{\"name\": \"a.jpg\", \"k\": 2, \"score\": -0.5}\n");
    for (args, wanted) in [
        (&[][..], 0.5 * (1.0 - 0.25) / 1.5 + 0.5 * 2.0),
        (&["--normalise", "no", "--mix", "sum"], 0.75 + 2.0),
        (&["--mix", "pieces"], 0.5),
        (&["--whole-weight", "0.25"], 0.75 * 0.5 + 0.25 * 2.0),
    ] {
        let rows = work.json(&[&["stair", "score", "scores.jsonl"], args].concat());
        assert_near(&rows[0]["stair"], wanted, &format!("{args:?}"));
    }
    work.write("gap.csv", "name,k,score\na.jpg,0,2\na.jpg,2,1\nb.jpg,0,1\nb.jpg,1,1\n");
    let ran = work.run(&["stair", "score", "gap.csv", "--format", "json"]).expect(3);
    assert!(ran.stderr.contains("a.jpg: no score: a piece has no score"), "{}", ran.stderr);
    work.write("twice.csv", "name,k,score\na.jpg,0,2\na.jpg,0,1\n");
    let ran = work.run(&["stair", "score", "twice.csv"]).expect(1);
    assert!(ran.stderr.contains("line: 3"), "{}", ran.stderr);
    // From the lake, and back into it as a metric.
    let samples = project().join("data/samples/agiqa-3k/data.csv");
    work.run(&["ingest", "agiqa-3k", samples.to_str().unwrap()]).expect(0);
    assert!(work.json(&["stair", "plan"]).as_array().unwrap().len() > 12);
}
