//! MagicBench: the real files, three protocols worked out by hand, and the cases about them.

use serde_json::{Value, json};

use super::util::{Workdir, shared};

#[test]
fn the_real_files() {
    let Some(folder) = shared("datasets/magicbench") else { return };
    let work = Workdir::new();
    work.run(&["run", "magicbench", folder.to_str().unwrap(), "-q"]).expect(0);
    let board = work.row("SELECT model, display_name, interaction, human, animal, object, overall, n, n_valid, n_animal, n_expected FROM magicbench.leaderboard");
    assert_eq!(
        board,
        json!({"model": "flux-schnell", "display_name": "FLUX.1-schnell", "interaction": 100.0, "human": 87.5, "animal": null,
            "object": null, "overall": 87.5, "n": 8, "n_valid": 8, "n_animal": 0, "n_expected": 800})
    );
    let classes = work
        .sql("SELECT detail_class, count(*) AS n FROM magicbench.prompts GROUP BY detail_class ORDER BY detail_class");
    assert_eq!(classes.len(), 8);
    assert!(classes.iter().all(|row| row["n"] == 100), "{classes:?}");
    let classes = work.sql("SELECT class, count(*) AS n FROM magicbench.prompts GROUP BY class ORDER BY class");
    assert_eq!(
        classes,
        [
            json!({"class": "animal", "n": 200}),
            json!({"class": "human", "n": 300}),
            json!({"class": "object", "n": 300})
        ]
    );
    work.run(&["check", "magicbench"]).expect(0);
}

const HUMAN: &str = "L2: Abnormal Human Anatomy";
const OBJECT: &str = "L2: Abnormal Object Morphology";
const INTERACTION: &str = "L2: Irrational Element Interaction";

fn record(prompt: &str, class: &str, types: Option<Value>) -> Value {
    let answer = match types {
        Some(types) => json!({"Whether Normal": false, "Type of Deformity": types}),
        None => json!({"Whether Normal": true}),
    };
    json!({"prompt_t2i": prompt, "class": class, "detail_class": format!("{class}_single"), "has_subject": true,
        "gen_images": [format!("{prompt}.jpg")], "response": format!("\\boxed{{{answer}}}")})
}

fn with(mut record: Value, key: &str, value: Value) -> Value {
    record[key] = value;
    record
}

fn lines(records: &[Value]) -> String {
    records.iter().map(|record| record.to_string() + "\n").collect()
}

/// Nine records, worked out by hand: three human (one with a hand, one without subject), three object (one with interaction and
/// object, one with human), and three that are not valid: no response, another form, and no subject besides.
#[test]
fn three_protocols_by_hand() {
    let work = Workdir::new();
    let records = [
        record("a", "human", Some(json!({HUMAN: ["L3: Hand Structure Deformity"]}))),
        with(record("b", "human", None), "has_subject", json!("false")),
        record("c", "human", None),
        record("d", "object", Some(json!({INTERACTION: ["L3: Abnormal Element Overlap"], OBJECT: true}))),
        record("e", "object", Some(json!({HUMAN: ["L3: Foot Structure Deformity"]}))),
        record("f", "object", None),
        with(record("g", "animal", None), "response", Value::Null),
        with(
            record("h", "animal", None),
            "response",
            json!("\\boxed{{\"Whether Normal\": false, \"Type of Abnormality\": {}}}"),
        ),
        with(with(record("i", "object", None), "response", json!("no idea")), "has_subject", json!(0)),
    ];
    // Case B13: any folder is a model.
    work.write("my-new-t2i.v2/merged_result.jsonl", lines(&records));
    let ran = work.run(&["run", "magicbench", "my-new-t2i.v2/merged_result.jsonl"]).expect(0);
    assert!(ran.stderr.contains("1 class flags stand on records of another class"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("9 expected = 6 ok + 1 missing + 1 invalid + 1 parse_failed + 0 skipped"),
        "{}",
        ran.stderr
    );
    let board = |schema: &str| {
        work.row(&format!(
            "SELECT model, interaction, human, animal, object, overall, human_own, n, n_valid FROM {schema}.leaderboard"
        ))
    };
    // official: of 6 valid records 1 interaction; human flags a, b and e of 3 human records; object flag d of 3; artifacts a, b, d, e.
    let two_thirds = 100.0 / 3.0 * 2.0;
    let found = board("magicbench");
    let near = |column: &str, wanted: f64| {
        assert!((found[column].as_f64().unwrap() - wanted).abs() < 1e-9, "{column}: {found}")
    };
    near("interaction", 100.0 * 5.0 / 6.0);
    near("human", 0.0);
    near("human_own", 100.0 / 3.0);
    near("object", two_thirds);
    near("overall", 100.0 / 3.0);
    assert_eq!((&found["animal"], &found["n"], &found["n_valid"]), (&Value::Null, &json!(9), &json!(6)));
    assert_eq!(found["model"], "my-new-t2i.v2");
    // nominal: denominators 800, 300, 200, 300; the record i without subject counts too, an object.
    work.run(&["score", "magicbench", "--protocol", "nominal", "-q"]).expect(0);
    let found = board("magicbench_nominal");
    let near = |column: &str, wanted: f64| {
        assert!((found[column].as_f64().unwrap() - wanted).abs() < 1e-9, "{column}: {found}")
    };
    near("interaction", 100.0 * (800.0 - 1.0) / 800.0);
    near("human", 100.0 * (300.0 - 3.0) / 300.0);
    near("object", 100.0 * (300.0 - 2.0) / 300.0);
    near("overall", 100.0 * (800.0 - 5.0) / 800.0);
    // strict: class flags on the records of their class alone.
    work.run(&["score", "magicbench", "--protocol", "strict", "-q"]).expect(0);
    let found = board("magicbench_strict");
    let near = |column: &str, wanted: f64| {
        assert!((found[column].as_f64().unwrap() - wanted).abs() < 1e-9, "{column}: {found}")
    };
    near("human", 100.0 / 3.0);
    near("overall", 100.0 / 3.0);
    let details = work.sql(
        "SELECT detail_class, score, n, deformed, n_records FROM magicbench.by_detail_class ORDER BY detail_class",
    );
    assert_eq!(
        details[0],
        json!({"detail_class": "animal_single", "score": null, "n": 0, "deformed": 0, "n_records": 2}),
        "case B07"
    );
    assert_eq!((&details[1]["n"], &details[1]["deformed"]), (&json!(3), &json!(2)));
    assert_eq!(
        (&details[2]["n"], &details[2]["deformed"], &details[2]["n_records"]),
        (&json!(3), &json!(1), &json!(4))
    );
    let checked = work.run(&["check", "magicbench"]).expect(0);
    assert_eq!(checked.stdout.matches("2 tables, ").count(), 3, "{}", checked.stdout);
}

/// Case B10: one human record without flags, two object records with human flags.
#[test]
fn a_score_can_be_negative_and_is_told() {
    let work = Workdir::new();
    let hand = || Some(json!({HUMAN: ["L3: Hand Structure Deformity"]}));
    work.write(
        "m/r.jsonl",
        lines(&[record("a", "human", None), record("b", "object", hand()), record("c", "object", hand())]),
    );
    let ran = work.run(&["run", "magicbench", "m/r.jsonl"]).expect(0);
    assert!(ran.stderr.contains("different populations"), "{}", ran.stderr);
    assert_eq!(
        work.row("SELECT human, human_own FROM magicbench.leaderboard"),
        json!({"human": -100.0, "human_own": 100.0})
    );
}

/// Case B12 and what else is odd: none of it ends the run.
#[test]
fn odd_records_are_in_the_ledger() {
    let work = Workdir::new();
    let person = with(
        record("a", "person", Some(json!({HUMAN: ["L3: Hand Structure Deformity"]}))),
        "has_subject",
        json!(false),
    );
    let records = [
        person,
        record("b", "plant", None),
        record("", "human", None),
        json!({"prompt_t2i": "c", "class": "object", "gen_images": ["c.jpg"]}),
        json!({"prompt_t2i": null, "class": "object", "gen_images": [], "response": "x"}),
        record("b", "plant", None),
    ];
    work.write("m/r.jsonl", lines(&records) + "{\"prompt_t2i\": \"cut off");
    work.write("prompts.jsonl", "{\"prompt_t2i\": \"a\", \"class\": \"human\", \"detail_class\": \"human_single\"}\n");
    let ran = work.run(&["run", "magicbench", "m/r.jsonl", "prompts.jsonl"]).expect(0);
    for word in [
        "3 records have no prompt or could not be read",
        "2 records are about prompts that are none of the benchmark's",
        "1 duplicate record set aside",
    ] {
        assert!(ran.stderr.contains(word), "`{word}`: {}", ran.stderr);
    }
    assert_eq!(
        work.row("SELECT expected, ok, missing, invalid, parse_failed, skipped, unexpected, unknown, duplicate FROM magicbench.ledger WHERE level = 'all'"),
        json!({"expected": 6, "ok": 2, "missing": 1, "invalid": 0, "parse_failed": 0, "skipped": 3, "unexpected": 2, "unknown": 1, "duplicate": 1})
    );
    let board = work.row("SELECT human, overall, n_human, n_valid, coverage FROM magicbench.leaderboard");
    assert_eq!(board, json!({"human": 0.0, "overall": 50.0, "n_human": 1, "n_valid": 2, "coverage": 1.0}));
    let reasons = work.sql("SELECT reason FROM magicbench.assessments WHERE prompt = '' AND reason LIKE '%not JSON%'");
    assert_eq!(reasons.len(), 1);
    work.run(&["check", "magicbench"]).expect(0);
    // Another answer about one prompt is a contradiction, another revision or judge an entry of its own.
    work.write("n/r.jsonl", lines(&[record("a", "human", None)]));
    let ran = work.run(&["ingest", "magicbench", "n/r.jsonl", "--model", "m"]).expect(1);
    assert!(ran.stderr.contains("two different records about one prompt of one model"), "{}", ran.stderr);
    work.run(&["run", "magicbench", "n/r.jsonl", "--model", "m", "--judge", "J", "-q"]).expect(0);
    assert_eq!(work.row("SELECT count(*) AS n FROM magicbench.leaderboard")["n"], 2);
    work.write("other.jsonl", "{\"prompt_t2i\": \"a\", \"class\": \"animal\", \"detail_class\": \"animal_single\"}\n");
    let ran = work.run(&["ingest", "magicbench", "other.jsonl"]).expect(1);
    assert!(ran.stderr.contains("has different classes in two places"), "{}", ran.stderr);
}

/// Every published cell is a share k / n of at most the nominal number, so the check holds; of another figure it does not.
#[test]
fn published_cells_are_reachable() {
    let work = Workdir::new();
    work.write("m/r.jsonl", lines(&[record("a", "human", None)]));
    work.run(&["run", "magicbench", "m/r.jsonl", "-q"]).expect(0);
    let text = std::fs::read_to_string(super::util::project().join("data/published/magicbench_scores.csv")).unwrap();
    assert!(text.contains("62.16"));
    // Of 800 images or fewer no share rounds to 99.99, and none is above 100.
    for unreachable in ["99.99", "100.31"] {
        work.write(
            "own/data/published/magicbench_scores.csv",
            text.replacen("FLUX.1-dev,diffusion,84.71", &format!("FLUX.1-dev,diffusion,{unreachable}"), 1),
        );
        let ran = work.run(&["score", "magicbench", "--assets", "own"]).expect(1);
        for word in ["a check failed: Is every published cell a share k / n", "FLUX.1-dev"] {
            assert!(ran.stderr.contains(word), "{}", ran.stderr);
        }
    }
}
