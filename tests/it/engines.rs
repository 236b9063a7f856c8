//! DataFusion against Polars, and against the plain-Python reference.

use std::process::Command;

use scorelake::assets::Assets;
use scorelake::schema::TableSchema;
use scorelake::score::{OpinionTable, Ranked, compare};
use serde_json::Value;

use super::util::{Workdir, project};

fn synth(work: &Workdir, args: &[&str]) {
    work.run(&[&["synth", "qwen-image-bench"], args].concat()).expect(0);
}

#[test]
fn both_engines_agree_on_every_table() {
    let work = Workdir::new();
    synth(
        &work,
        &[
            "--rows",
            "25",
            "--models",
            "3",
            "--en",
            "--noise",
            "0.3",
            "--think-chars",
            "30",
            "--judged-out",
            "own.csv",
            "-o",
            "r.jsonl",
        ],
    );
    synth(
        &work,
        &[
            "--rows",
            "25",
            "--models",
            "3",
            "--en",
            "--noise",
            "0.3",
            "--think-chars",
            "30",
            "--judged-out",
            "own2.csv",
            "--seed",
            "2",
            "-o",
            "other.jsonl",
        ],
    );
    work.run(&["ingest", "qwen-image-bench", "r.jsonl"]).expect(0);
    work.run(&["ingest", "qwen-image-bench", "own.csv", "--model", "Mine", "--judge", "Other"]).expect(0);
    // Replies that are set aside.
    work.run(&["ingest", "qwen-image-bench", "own2.csv", "--model", "Mine", "--judge", "Other", "--supersede"])
        .expect(0);
    let ran = work.run(&["check"]).expect(0);
    assert!(work.row("SELECT count(*) AS n FROM qwen_image_bench.set_aside")["n"].as_i64().unwrap() > 50);
    let agreed: Vec<_> =
        ran.stdout.lines().filter(|line| line.contains("5 tables, ") && line.contains("the same to 1e-9")).collect();
    assert_eq!(agreed.len(), 4, "two protocols, two facet modes:\n{}", ran.stdout);
    // Without metadata there is nothing to be metadata's facets.
    let bare = Workdir::new();
    synth(&bare, &["--rows", "5", "--models", "1", "--judged-out", "own.csv", "-o", "r.jsonl"]);
    bare.run(&["ingest", "qwen-image-bench", "own.csv", "--model", "Mine"]).expect(0);
    let ran = bare.run(&["check"]).expect(0);
    assert_eq!(ran.stdout.matches("the same to 1e-9").count(), 2, "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("not scored: ").count(), 2, "{}", ran.stdout);
}

#[test]
fn the_polars_board_is_the_published_one() {
    let work = Workdir::new();
    synth(&work, &["--rows", "20", "--models", "3", "--noise", "0.2", "--think-chars", "30", "-o", "r.jsonl"]);
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    let snapshots = work.path("lake/snapshots/qwen-image-bench");
    let before = std::fs::read_dir(&snapshots).unwrap().count();
    for args in [
        &["--protocol", "strict"][..],
        &["--set", "score_map_1=50"],
        &["--min-coverage", "1"],
        &["--facets", "metadata"],
    ] {
        let by_polars = work.json(&[&["score", "qwen-image-bench", "--engine", "polars"], args].concat());
        assert_eq!(std::fs::read_dir(&snapshots).unwrap().count(), before, "nothing is published");
        let other = Workdir::new();
        other.write("r.jsonl", std::fs::read(work.path("r.jsonl")).unwrap());
        other.run(&["ingest", "qwen-image-bench", "r.jsonl"]).expect(0);
        let ran = other.run(&[&["score", "qwen-image-bench"], args].concat()).expect(0);
        let id = ran.stderr.split("snapshot ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        let published = other.json(&["show", &format!("qwen-image-bench@{id}")]);
        assert_close(&published, &by_polars, &format!("{args:?}"));
    }
    for table in ["leaderboard", "by_pillar", "by_capability", "by_facet", "prompt_scores"] {
        let by_polars = work.json(&["score", "qwen-image-bench", "--engine", "polars", "--table", table]);
        let published = work.json(&["show", "qwen-image-bench", table]);
        assert_close(&published, &by_polars, table);
    }
    let ran = work.run(&["score", "qwen-image-bench", "--engine", "polars", "--table", "ledger"]).expect(2);
    assert!(ran.stderr.contains("tables: leaderboard, by_pillar"), "{}", ran.stderr);
    work.run(&["score", "qwen-image-bench", "--table", "ledger"]).expect(2);
}

/// Equal but for the last digits of numbers.
#[track_caller]
fn assert_close(left: &Value, right: &Value, place: &str) {
    match (left, right) {
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{place}");
            a.iter().zip(b).enumerate().for_each(|(at, (a, b))| assert_close(a, b, &format!("{place}[{at}]")));
        }
        (Value::Object(a), Value::Object(b)) => {
            assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "{place}");
            a.iter().for_each(|(key, value)| assert_close(value, &b[key], &format!("{place}.{key}")));
        }
        (Value::Number(a), Value::Number(b)) => {
            assert!((a.as_f64().unwrap() - b.as_f64().unwrap()).abs() <= 1e-9, "{place}: {a} {b}");
        }
        _ => assert_eq!(left, right, "{place}"),
    }
}

/// A digit changed by hand in a query of one engine: `check` fails and names the first cell.
#[test]
fn check_finds_a_changed_digit() {
    let work = Workdir::new();
    synth(&work, &["--rows", "8", "--models", "2", "--think-chars", "20", "-o", "r.jsonl"]);
    work.run(&["ingest", "qwen-image-bench", "r.jsonl"]).expect(0);
    let sql = std::fs::read_to_string(project().join("sql/qwen_image_bench/by_capability.sql")).unwrap();
    let changed = sql.replace(
        "exact_avg(score) AS score",
        "exact_avg(score) + CASE WHEN capability = 'Detail' THEN 0.00000001 ELSE 0.0 END AS score",
    );
    assert_ne!(sql, changed);
    work.write("own/sql/qwen_image_bench/by_capability.sql", changed);
    let ran = work.run(&["check", "--assets", "own"]).expect(1);
    for word in [
        "the engines differ: by_capability.score",
        "capability=Detail",
        "model=Gpt-Image-2",
        "protocol: official",
        "by_capability.sql",
    ] {
        assert!(ran.stderr.contains(word), "`{word}` is not in:\n{}", ran.stderr);
    }
    work.run(&["check", "--assets", "own", "--without-data"]).expect(0);
    work.run(&["check"]).expect(0);
    let ran = work.run(&["score", "qwen-image-bench", "--assets", "own", "--engine", "polars"]).expect(2);
    assert!(ran.stderr.contains("by_capability.sql"), "{}", ran.stderr);
}

#[test]
fn a_comparison_names_what_differs() {
    use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
    use std::sync::Arc;
    let schema = TableSchema::load(&Assets::embedded(), "qwen-image-bench", "by_pillar").unwrap();
    let batch = |scores: Vec<Option<f64>>, n: i64| {
        let rows = scores.len();
        let text = |value: &str| -> ArrayRef { Arc::new(StringArray::from(vec![value; rows])) };
        let pillars: Vec<_> = (0..rows).map(|row| format!("p{row}")).collect();
        let columns: Vec<ArrayRef> = vec![
            text("m"),
            text("cn"),
            Arc::new(StringArray::from(pillars)),
            Arc::new(Float64Array::from(scores)),
            Arc::new(Int64Array::from(vec![n; rows])),
            text(""),
            text(""),
        ];
        RecordBatch::try_new(schema.arrow(), columns).unwrap()
    };
    let told = |left: RecordBatch, right: RecordBatch| {
        let opinion = OpinionTable {
            schema: schema.clone(),
            batch: right,
            ranked_by: Some(Ranked { rank: "n", score: "score" }),
        };
        compare(&[left], &opinion).unwrap().map(|difference| difference.to_string())
    };
    let base = || batch(vec![Some(1.0), Some(2.0)], 3);
    assert_eq!(told(base(), base()), None);
    assert_eq!(told(base(), batch(vec![Some(1.0), Some(2.0 + 9e-10)], 3)), None);
    let row = "model=m, model_revision=, judge=, lang=cn, pillar=p1";
    assert_eq!(
        told(base(), batch(vec![Some(1.0), Some(2.5)], 3)).unwrap(),
        format!("by_pillar.score, row {row}: DataFusion 2.0, Polars 2.5")
    );
    assert_eq!(
        told(base(), batch(vec![Some(1.0)], 3)).unwrap(),
        format!("by_pillar, row {row}: DataFusion has it, Polars has no such row")
    );
    assert_eq!(
        told(batch(vec![Some(1.0)], 3), base()).unwrap(),
        format!("by_pillar, row {row}: DataFusion has no such row, Polars has it")
    );
    assert!(told(base(), batch(vec![Some(1.0), Some(2.0)], 4)).unwrap().starts_with("by_pillar.n, row"));
    // Equal scores but for rounding may be ranked either way; others may not.
    let tied = |rank: i64| batch(vec![Some(60.888888888888886), Some(60.88888888888889)], rank);
    assert_eq!(told(tied(1), tied(2)), None);
    // Large numbers by their size, and a row that is there twice.
    assert_eq!(told(batch(vec![Some(8771929.824561404)], 1), batch(vec![Some(8771929.824561402)], 1)), None);
    let twice = arrow::compute::concat_batches(&schema.arrow(), &[base(), base()]).unwrap();
    assert!(told(base(), twice).unwrap().contains("Polars has several"));
    assert!(told(base(), batch(vec![Some(f64::NAN), Some(2.0)], 3)).unwrap().contains("Polars NaN"));
}

/// Every total, pillar and capability of the official reading, against the plain-Python reference written from the protocol.
#[test]
fn the_official_reading_equals_plain_python() {
    if Command::new("python3").arg("--version").output().is_err() {
        assert!(std::env::var_os("SCORELAKE_REQUIRE_SHARED").is_none(), "python3 is required and not there");
        eprintln!("skipped: no python3");
        return;
    }
    let work = Workdir::new();
    synth(&work, &["--rows", "300", "--models", "6", "--en", "--noise", "0.1", "--think-chars", "60", "-o", "r.jsonl"]);
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    work.run(&["export", "qwen-image-bench", "--official", "out"]).expect(0);
    let reference = Command::new("python3")
        .arg(project().join("benches/baseline/qwen_image_bench.py"))
        .arg(work.path("r.jsonl"))
        .arg(project().join("data/taxonomy/qwen-image-bench.csv"))
        .output()
        .unwrap();
    assert!(reference.status.success(), "{}", String::from_utf8_lossy(&reference.stderr));
    let reference: Value = serde_json::from_slice(&reference.stdout).unwrap();
    for (lang, file) in [("cn", "out/scores_detail.json"), ("en", "out/scores_detail_en.json")] {
        let ours: Value = serde_json::from_slice(&std::fs::read(work.path(file)).unwrap()).unwrap();
        let (ours, theirs) = (numbers(&ours), numbers(&reference[lang]));
        assert!(theirs.len() > 180, "{lang}: {} numbers", theirs.len());
        assert_eq!(
            ours.iter().map(|(path, _)| path).collect::<Vec<_>>(),
            theirs.iter().map(|(path, _)| path).collect::<Vec<_>>()
        );
        for ((path, ours), (_, theirs)) in ours.iter().zip(&theirs) {
            assert!((ours - theirs).abs() <= 1e-9, "{lang} {path}: {ours} {theirs}");
        }
    }
}

/// Every number with its path, sorted.
fn numbers(value: &Value) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), value)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Object(members) => {
                open.extend(members.iter().map(|(name, value)| (format!("{path}/{name}"), value)))
            }
            Value::Number(number) => found.push((path, number.as_f64().unwrap())),
            other => panic!("{path}: {other}"),
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}
