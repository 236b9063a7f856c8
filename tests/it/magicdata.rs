//! MagicData340K: labels of people, two readings of assessors, detection and rewards worked out by hand, and the cases about them.

use serde_json::{Value, json};

use super::util::Workdir;

const HUMAN: &str = "L2: Abnormal Human Anatomy";
const HAND: &str = "L3: Hand Structure Deformity";
const FOOT: &str = "L3: Foot Structure Deformity";
const OBJECT: &str = "L2: Abnormal Object Morphology";
const ANIMAL: &str = "L2: Abnormal Animal Anatomy";
const HEAD: &str = "L3: Abnormal Head Structure";

fn normal() -> Value {
    json!({"Whether Normal": true})
}

fn artifact(types: Value) -> Value {
    json!({"Whether Normal": false, "Type of Deformity": types})
}

fn labelled(image: &str, labels: &Value) -> String {
    json!({"prompt_ori": "a prompt", "response": labels.to_string(), "images": image}).to_string() + "\n"
}

fn predicted(image: &str, output: &str) -> String {
    json!({"images": [image], "output": output}).to_string() + "\n"
}

fn boxed(labels: &Value) -> String {
    format!("<think>it is {{odd}}</think>\n\\boxed{{{labels}}}")
}

#[track_caller]
fn assert_near(found: &Value, wanted: f64, place: &str) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{place}: {found}"));
    assert!((found - wanted).abs() <= 1e-12, "{place}: {found} instead of {wanted}");
}

/// Six images, worked out by hand:
///
/// | image | labels | prediction |
/// | --- | --- | --- |
/// | a | human: hand | human: hand |
/// | b | human: hand, foot | human: hand; object |
/// | c | normal | normal |
/// | d | normal | object |
/// | e | animal: head | normal |
/// | f | object | no boxed answer, no braces: unusable |
fn six() -> Workdir {
    let work = Workdir::new();
    let gold = [
        ("a", artifact(json!({HUMAN: [HAND]}))),
        ("b", artifact(json!({HUMAN: [HAND, FOOT]}))),
        ("c", normal()),
        ("d", normal()),
        ("e", artifact(json!({ANIMAL: [HEAD]}))),
        ("f", artifact(json!({OBJECT: true}))),
    ];
    let said = [
        ("a", boxed(&artifact(json!({HUMAN: [HAND]})))),
        ("b", boxed(&artifact(json!({HUMAN: [HAND], OBJECT: true})))),
        ("c", boxed(&normal())),
        ("d", boxed(&artifact(json!({OBJECT: true})))),
        ("e", boxed(&normal())),
        ("f", "I cannot say.".to_owned()),
    ];
    work.write("gold_test.jsonl", gold.iter().map(|(image, labels)| labelled(image, labels)).collect::<String>());
    work.write("said_test.jsonl", said.iter().map(|(image, text)| predicted(image, text)).collect::<String>());
    work.run(&["run", "magicdata340k", "gold_test.jsonl", "said_test.jsonl", "--model", "A", "-q"]).expect(0);
    work.run(&["score", "magicdata340k", "--protocol", "strict", "-q"]).expect(0);
    work
}

#[test]
fn detection_by_hand() {
    let work = six();
    let row =
        |schema: &str, label: &str| work.row(&format!("SELECT * FROM {schema}.detection WHERE label = '{label}'"));
    let counts =
        |row: &Value| ["n", "n_invalid", "tp", "fp", "fn", "support", "predicted"].map(|name| row[name].as_i64());
    let some = |values: [i64; 7]| values.map(Some);
    let (official, strict) = ("magicdata340k", "magicdata340k_strict");
    // official: f is left out with its labels.
    let found = row(official, "artifact");
    assert_eq!(counts(&found), some([5, 1, 2, 1, 1, 3, 3]));
    assert_near(&found["precision"], 2.0 / 3.0, "precision");
    assert_near(&found["recall"], 2.0 / 3.0, "recall");
    assert_near(&found["f1"], 4.0 / 6.0, "f1");
    assert_near(&found["accuracy"], 3.0 / 5.0, "accuracy");
    assert_near(&found["f1_always"], 6.0 / 8.0, "always");
    // strict: f counts as predicting nothing.
    let found = row(strict, "artifact");
    assert_eq!(counts(&found), some([6, 1, 2, 1, 2, 4, 3]));
    assert_near(&found["accuracy"], 3.0 / 6.0, "accuracy");
    assert_eq!(counts(&row(official, HUMAN)), some([5, 1, 2, 0, 0, 2, 2]));
    assert_eq!(counts(&row(official, HAND)), some([5, 1, 2, 0, 0, 2, 2]));
    assert_eq!(counts(&row(official, FOOT)), some([5, 1, 0, 0, 1, 1, 0]));
    assert_eq!(counts(&row(official, OBJECT)), some([5, 1, 0, 2, 0, 0, 2]));
    assert_eq!(counts(&row(strict, OBJECT)), some([6, 1, 0, 2, 1, 1, 2]));
    assert_eq!(counts(&row(official, ANIMAL)), some([5, 1, 0, 0, 1, 1, 0]));
    // Case C08: no prediction of a label that is there: precision undefined, F1 0.
    let foot = row(official, FOOT);
    assert_eq!((&foot["precision"], &foot["f1"], &foot["undefined"]), (&json!(0.0), &json!(0.0), &json!("precision")));
    let foot = row(strict, FOOT);
    assert_eq!((&foot["precision"], &foot["recall"], &foot["f1"]), (&Value::Null, &json!(0.0), &json!(0.0)));
    // Macro over the main four (interaction, human, animal, object). official: P (0 + 1 + 0 + 0) / 4, R (0 + 1 + 0 + 0) / 4, F1 the
    // mean of four F1s, not of the means.
    let found = row(official, "macro");
    for measure in ["precision", "recall", "f1"] {
        assert_near(&found[measure], 0.25, measure);
    }
    assert_eq!(counts(&found), [Some(5), Some(1), None, None, None, None, None]);
    // strict: the mean of what is defined: P of human 1 and object 0; R of human 1, animal 0, object 0; F1 of those three.
    let found = row(strict, "macro");
    assert_near(&found["precision"], 0.5, "precision");
    assert_near(&found["recall"], 1.0 / 3.0, "recall");
    assert_near(&found["f1"], 1.0 / 3.0, "f1");
    assert_eq!(found["undefined"], "precision of 2,recall of 1,f1 of 1");
    // Micro from sums over the four: tp 2, fp 2, fn 1 (official), fn 2 (strict).
    let found = row(official, "micro");
    assert_eq!(counts(&found), some([5, 1, 2, 2, 1, 3, 4]));
    assert_near(&found["f1"], 4.0 / 7.0, "f1");
    let found = row(strict, "micro");
    assert_near(&found["precision"], 0.5, "precision");
    assert_near(&found["recall"], 0.5, "recall");
    assert_eq!(work.row("SELECT count(*) AS n FROM magicdata340k.detection")["n"], 1 + 23 + 2);
    let checked = work.run(&["check", "magicdata340k"]).expect(0);
    assert_eq!(checked.stdout.matches("4 tables, ").count(), 2, "{}", checked.stdout);
    // Case C10: an option of zero division is what it says, whatever the protocol.
    let ran = work.run(&["score", "magicdata340k", "--set", "zero_division=null"]).expect(0);
    let id = ran.stderr.split("snapshot ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let rows = work.json(&["show", &format!("magicdata340k@{id}"), "detection"]);
    let foot = rows.as_array().unwrap().iter().find(|row| row["label"] == FOOT).unwrap().clone();
    assert_eq!(foot["precision"], Value::Null);
}

/// Rewards of the same six, always by the exact reading.
#[test]
fn rewards_by_hand() {
    let work = six();
    let rows = work.sql("SELECT image, format, binary_reward, l2, l3, total FROM magicdata340k.rewards ORDER BY image");
    let row = |image: &str, parts: [f64; 5]| json!({"image": image, "format": parts[0], "binary_reward": parts[1], "l2": parts[2], "l3": parts[3], "total": parts[4]});
    // b: level 2 has one hit and one extra: 0.6 - 0.3; level 3 under human, which both have: hand hit, foot missed: 0.6 - 0.3.
    let b = 0.6 - 0.3;
    let wanted = [
        row("a", [1.0, 1.0, 1.0, 1.0, 15.0]),
        row("b", [1.0, 1.0, b, b, 8.0 + 4.0 + 2.0 * b + b]),
        row("c", [1.0, 1.0, 0.0, 0.0, 12.0]),
        row("d", [1.0, 0.0, 0.0, 0.0, 8.0]),
        row("e", [1.0, 0.0, 0.0, 0.0, 8.0]),
        row("f", [0.0, 0.0, 0.0, 0.0, 0.0]),
    ];
    for (found, wanted) in rows.iter().zip(&wanted) {
        for column in ["format", "binary_reward", "l2", "l3", "total"] {
            assert_near(&found[column], wanted[column].as_f64().unwrap(), &format!("{} {column}", wanted["image"]));
        }
    }
    assert_eq!(rows.len(), 6);
}

/// Labels as people write them: kept and counted, whatever is odd (M2).
#[test]
fn odd_labels_are_kept_and_counted() {
    let work = Workdir::new();
    let lines = [
        labelled("a", &artifact(json!({"L2: Plants": ["L3: Leaf"]}))),
        labelled("b", &artifact(json!({ANIMAL: [HAND]}))),
        labelled("c", &artifact(json!({HUMAN: true}))),
        labelled("d", &artifact(json!({OBJECT: ["L3: Dent"]}))),
        labelled("e", &artifact(json!({}))),
        labelled("f", &json!({"Whether Normal": false, "Type of Abnormality": {OBJECT: true}})),
        labelled("g", &json!({"Whether Normal": true, "Type of Deformity": {OBJECT: true}})),
        json!({"query": "Judge the text prompt as {a red cat} now.", "response": normal(), "images": ["h", "i"]})
            .to_string()
            + "\n",
        json!({"prompt": "p", "response": "not json", "images": "j"}).to_string() + "\n",
        json!({"prompt": "p", "response": null, "images": "k"}).to_string() + "\n",
        json!({"prompt": "p", "response": {"Whether Normal": "yes"}, "images": "l", "generator": "SD3"}).to_string()
            + "\n",
    ];
    work.write("labels.jsonl", lines.concat());
    let ran = work.run(&["run", "magicdata340k", "labels.jsonl"]).expect(0);
    for word in [
        "labels: an artifact without a type: 1",
        "labels under `Type of Abnormality`: 1",
        "labels: types beside `Whether Normal: true`, kept as beside_normal: 1",
        "labels: unknown L2: Plants: 1",
        "records with more than one image, the first one taken: 1",
        "7 labels of people are not as the taxonomy has them",
        "all: 11 expected = 8 ok + 1 missing + 1 invalid + 1 parse_failed + 0 skipped; 2 unknown",
    ] {
        assert!(ran.stderr.contains(word), "`{word}` is not in:\n{}", ran.stderr);
    }
    let shares = work.sql(
        "SELECT label, n, share_of_images, share_of_artifacts, is_known FROM magicdata340k.label_shares WHERE n > 0",
    );
    let count = |label: &str| shares.iter().find(|row| row["label"] == label).map(|row| row["n"].as_i64().unwrap());
    assert_eq!(count("Normal"), Some(2));
    assert_eq!(count("Artifacts"), Some(6));
    assert_eq!(count(OBJECT), Some(2), "d and f; g is called normal");
    assert_eq!(count(HUMAN), Some(1));
    assert_eq!((count(ANIMAL), count(HAND)), (Some(1), Some(1)));
    assert_eq!((count("L2: Plants"), count("L3: Leaf"), count("L3: Dent")), (Some(1), Some(1), Some(1)));
    let states =
        work.sql("SELECT image, level, state FROM magicdata340k.labels WHERE state <> 'ok' ORDER BY image, level");
    let states: Vec<_> = states
        .iter()
        .map(|row| {
            format!(
                "{} {} {}",
                row["image"].as_str().unwrap(),
                row["level"].as_str().unwrap(),
                row["state"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        states,
        [
            "a l2 unknown",
            "a l3 unknown",
            "b l3 wrong_parent",
            "c l2 flag_for_list",
            "d l2 list_for_flag",
            "d l3 unknown",
            "g l2 beside_normal"
        ]
    );
    let cut = work.row("SELECT prompt, prompt_is_cut, n_images FROM magicdata340k.images WHERE image = 'h'");
    assert_eq!(cut, json!({"prompt": "a red cat", "prompt_is_cut": true, "n_images": 2}));
    work.run(&["check", "magicdata340k"]).expect(0);
}

/// Splits from names, options and both; overlaps within and across them (case B25).
#[test]
fn splits_and_overlaps() {
    let work = Workdir::new();
    let (yes, no) = (artifact(json!({OBJECT: true})), normal());
    work.write("magic_mirror_data_train.jsonl", labelled("a", &yes) + &labelled("b", &no) + &labelled("b", &no));
    work.write("magic_mirror_data_test_r1.jsonl", labelled("a", &no) + &labelled("c", &no));
    let ran = work
        .run(&["run", "magicdata340k", "magic_mirror_data_train.jsonl", "magic_mirror_data_test_r1.jsonl"])
        .expect(0);
    for word in [
        "2 splits are scored together: test, train",
        "1 image paths stand in two splits: test and train",
        "1 duplicate record set aside",
    ] {
        assert!(ran.stderr.contains(word), "`{word}`: {}", ran.stderr);
    }
    let overlaps = work.sql("SELECT * FROM magicdata340k.overlaps ORDER BY split, other_split");
    assert_eq!(
        overlaps,
        [
            json!({"split": "test", "other_split": "train", "n": 1}),
            json!({"split": "train", "other_split": "train", "n": 1})
        ]
    );
    let share = |id: &str| {
        let rows = work.json(&["show", id, "label_shares"]);
        rows.as_array().unwrap().iter().find(|row| row["label"] == "Normal").map(|row| row["n"].as_i64().unwrap())
    };
    assert_eq!(share("magicdata340k"), Some(3));
    let ran = work.run(&["score", "magicdata340k", "--split", "test"]).expect(0);
    assert!(!ran.stderr.contains("scored together"), "{}", ran.stderr);
    let id = ran.stderr.split("snapshot ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert_eq!(share(&format!("magicdata340k@{id}")), Some(2));
    // Predictions whose name tells no split are about the image in every split; with one, in that alone.
    work.write("said.jsonl", predicted("a", &boxed(&yes)) + &predicted("z", &boxed(&yes)));
    work.run(&["ingest", "magicdata340k", "said.jsonl", "--model", "A"]).expect(0);
    work.run(&["ingest", "magicdata340k", "said.jsonl", "--model", "B", "--split", "test"]).expect(0);
    work.run(&["score", "magicdata340k", "-q"]).expect(3);
    let n = |assessor: &str| {
        work.row(&format!(
            "SELECT n, support FROM magicdata340k.detection WHERE assessor = '{assessor}' AND level = 'artifact'"
        ))
    };
    assert_eq!(n("A"), json!({"n": 2, "support": 1}));
    assert_eq!(n("B"), json!({"n": 1, "support": 0}));
    let ledger = work.row(
        "SELECT expected, ok, missing, unexpected FROM magicdata340k.ledger WHERE assessor = 'B' AND level = 'all'",
    );
    assert_eq!(ledger, json!({"expected": 2, "ok": 1, "missing": 1, "unexpected": 1}));
    work.run(&["check", "magicdata340k"]).expect(0);
}

/// M4, rule by rule: (text, exact, keywords), where a reading is its outcome or the labels it names.
#[test]
fn both_readings_of_an_assessor() {
    let hand = artifact(json!({HUMAN: [HAND]}));
    let nested = boxed(&hand);
    let long = format!("{}{}", "x".repeat(1200), nested);
    let cut_off = format!("\\boxed{{{{\"Whether Normal\": true}}}}{}", "y".repeat(1000));
    let twice = format!("first \\boxed{{{}}} then {}", normal(), nested);
    let cases: [(&str, &str, &str, &str); 18] = [
        ("nested braces (A07)", &nested, "artifact human hand", "artifact human hand"),
        ("normal", "\\boxed{{\"Whether Normal\": true}}", "normal", "normal"),
        ("no braces inside the box", "\\boxed{\"Whether Normal\": true}", "parse_failed", "normal"),
        ("the last box counts", &twice, "artifact human hand", "artifact human hand"),
        ("far from the start", &long, "artifact human hand", "artifact human hand"),
        ("far from the end", &cut_off, "normal", "parse_failed"),
        (
            "no box, but braces",
            "so {\"Whether Normal\": false, \"L2: Abnormal Object Morphology\"}",
            "parse_failed",
            "artifact object",
        ),
        ("an empty text", "  ", "parse_failed", "parse_failed"),
        ("no braces", "It is normal: true.", "parse_failed", "parse_failed"),
        ("a box that is not closed", "\\boxed{{\"Whether Normal\": true", "parse_failed", "parse_failed"),
        ("short answer", "\\boxed{answer}", "parse_failed", "normal"),
        ("long answer", "\\boxed{the answer}", "parse_failed", "parse_failed"),
        (
            "another key (A09)",
            "\\boxed{{\"Whether Normal\": false, \"Type of Abnormality\": {\"L2: Abnormal Object Morphology\": true}}}",
            "invalid",
            "artifact object",
        ),
        ("an empty type", "\\boxed{{\"Whether Normal\": false, \"Type of Deformity\": {}}}", "artifact", "artifact"),
        (
            "level 3 of another",
            "\\boxed{{\"Whether Normal\": false, \"Type of Deformity\": {\"L2: Abnormal Animal Anatomy\": [\"L3: Hand Structure Deformity\"]}}}",
            "invalid",
            "artifact",
        ),
        (
            "a list for one without level 3",
            "\\boxed{{\"Whether Normal\": false, \"Type of Deformity\": {\"L2: Abnormal Object Morphology\": [1]}}}",
            "artifact object",
            "artifact object",
        ),
        ("a second key beside true", "\\boxed{{\"Whether Normal\": true, \"note\": 1}}", "invalid", "normal"),
        (
            "a text for a boolean",
            "\\boxed{{\"Whether Normal\": \"false\", \"Type of Deformity\": {}}}",
            "invalid",
            "artifact",
        ),
    ];
    let work = Workdir::new();
    let name = |at: usize| format!("{at:02}");
    let gold: String = (0..cases.len()).map(|at| labelled(&name(at), &normal())).collect();
    let said: String = cases.iter().enumerate().map(|(at, (_, text, ..))| predicted(&name(at), text)).collect();
    work.write("gold.jsonl", gold);
    work.write("said.jsonl", said);
    work.run(&["ingest", "magicdata340k", "gold.jsonl", "said.jsonl", "--model", "A"]).expect(0);
    let found = work.sql("SELECT image, exact_outcome, exact_mask, keywords_outcome, keywords_mask FROM magicdata340k.predictions ORDER BY image");
    let positions = work.sql("SELECT label, position FROM magicdata340k.taxonomy ORDER BY position");
    let shown = |outcome: &Value, mask: &Value| {
        let Some(mask) = mask.as_i64() else { return outcome.as_str().unwrap().to_owned() };
        let mut names = if mask & 1 == 1 { vec!["artifact".to_owned()] } else { vec!["normal".to_owned()] };
        for row in positions.iter().filter(|row| mask >> row["position"].as_i64().unwrap() & 1 == 1) {
            names.push(
                row["label"]
                    .as_str()
                    .unwrap()
                    .split(' ')
                    .nth(if row["label"] == HAND { 1 } else { 2 })
                    .unwrap()
                    .to_lowercase(),
            );
        }
        names.join(" ")
    };
    for (row, (what, _, exact, keywords)) in found.iter().zip(cases) {
        assert_eq!(shown(&row["exact_outcome"], &row["exact_mask"]), exact, "{what}, exact");
        assert_eq!(shown(&row["keywords_outcome"], &row["keywords_mask"]), keywords, "{what}, keywords");
    }
    assert_eq!(found.len(), cases.len());
}

/// Generators from keys, paths and a side table; labels and prediction on one line; what is no record of this dataset.
#[test]
fn generators_lines_with_both_and_strangers() {
    let work = Workdir::new();
    let line = |image: &str, labels: &Value, output: &str| {
        json!({"query": "q", "response": labels.to_string(), "images": [image], "output": output}).to_string() + "\n"
    };
    let (yes, no) = (artifact(json!({OBJECT: true})), normal());
    work.write(
        "both.jsonl",
        line("SD3/1.jpg", &yes, &boxed(&yes))
            + &line("SD3/2.jpg", &no, &boxed(&yes))
            + &line("flux/3.jpg", &yes, "\\boxed{}"),
    );
    let ran = work.run(&["run", "magicdata340k", "both.jsonl"]).expect(2);
    assert!(ran.stderr.contains("does not say which assessor made them"), "{}", ran.stderr);
    work.run(&["run", "magicdata340k", "both.jsonl", "--model", "A", "--generator-from", "^([^/]+)/", "-q"]).expect(0);
    let rates = work.sql("SELECT generator, n, artifacts, rate FROM magicdata340k.artifact_rates ORDER BY generator");
    assert_eq!(
        rates,
        [
            json!({"generator": "SD3", "n": 2, "artifacts": 1, "rate": 0.5}),
            json!({"generator": "flux", "n": 1, "artifacts": 1, "rate": 1.0})
        ]
    );
    let detection = work.row("SELECT n, tp, fp, n_invalid FROM magicdata340k.detection WHERE level = 'artifact'");
    assert_eq!(detection, json!({"n": 2, "tp": 1, "fp": 1, "n_invalid": 1}));
    let side = Workdir::new();
    side.write("labels_test.jsonl", labelled("x.jpg", &yes) + &labelled("y.jpg", &no));
    side.write("who.csv", "image,generator\nx.jpg,Kolors\n");
    side.run(&["run", "magicdata340k", "labels_test.jsonl", "who.csv", "-q"]).expect(0);
    assert_eq!(
        side.row("SELECT generator, n FROM magicdata340k.artifact_rates"),
        json!({"generator": "Kolors", "n": 1})
    );
    side.run(&["check", "magicdata340k"]).expect(0);
    side.write("bad.jsonl", labelled("z", &no) + "{\"images\": \"w\", \"score\": 3}\n");
    let ran = side.run(&["ingest", "magicdata340k", "bad.jsonl"]).expect(1);
    for word in ["line: 2", "the record has the keys images, score"] {
        assert!(ran.stderr.contains(word), "{}", ran.stderr);
    }
    let ran = side.run(&["ingest", "magicdata340k", "labels_test.jsonl", "--generator-from", "("]).expect(2);
    assert!(ran.stderr.contains("no regular expression"), "{}", ran.stderr);
}
