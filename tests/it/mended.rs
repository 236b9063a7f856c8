//! Faults that were found once in the readers and queries of MagicMirror, AGIQA-3K and FAGER.

use serde_json::{Value, json};

use super::util::{Workdir, shared};

const OBJECT: &str = "L2: Abnormal Object Morphology";

fn labelled(image: &str, labels: &Value, further: Value) -> String {
    let mut line = json!({"prompt_ori": "p", "response": labels.to_string(), "images": image});
    line.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
    line.to_string() + "\n"
}

fn artifact() -> Value {
    json!({"Whether Normal": false, "Type of Deformity": {OBJECT: true}})
}

fn said(image: &str, labels: &Value) -> String {
    json!({"images": [image], "output": format!("\\boxed{{{labels}}}")}).to_string() + "\n"
}

/// A prediction that tells its split takes the place of one that tells none; neither counts twice.
#[test]
fn told_splits_come_before_untold_ones() {
    let work = Workdir::new();
    let normal = json!({"Whether Normal": true});
    work.write("gold_test.jsonl", labelled("a", &artifact(), json!({})) + &labelled("b", &artifact(), json!({})));
    work.write("gold_train.jsonl", labelled("a", &artifact(), json!({})));
    work.write("said.jsonl", said("a", &artifact()) + &said("b", &artifact()));
    work.write("said_test.jsonl", said("a", &normal));
    work.run(&["ingest", "magicdata340k", "gold_test.jsonl", "gold_train.jsonl"]).expect(0);
    work.run(&["ingest", "magicdata340k", "said.jsonl", "said_test.jsonl", "--model", "A"]).expect(0);
    work.run(&["score", "magicdata340k", "-q"]).expect(0);
    assert_eq!(
        work.row("SELECT n, tp, fn FROM magicdata340k.detection WHERE level = 'artifact'"),
        json!({"n": 3, "tp": 2, "fn": 1})
    );
    assert_eq!(
        work.row("SELECT count(*) AS n, count(DISTINCT concat(split, image)) AS keys FROM magicdata340k.rewards"),
        json!({"n": 3, "keys": 3})
    );
    let checked = work.run(&["check", "magicdata340k"]).expect(0);
    assert_eq!(checked.stdout.matches("4 tables, ").count(), 2, "{}", checked.stdout);
    let ran = work.run(&["ingest", "magicdata340k", "said_test.jsonl", "--model", "B", "--split", "train"]).expect(2);
    assert!(ran.stderr.contains("--split train for a file that is called test"), "{}", ran.stderr);
}

/// Labels with and without generator are one record, the one that says more; two generators are a contradiction. A type that is a
/// list or a text is kept.
#[test]
fn labels_that_say_more_are_kept() {
    let work = Workdir::new();
    work.write("a_test.jsonl", labelled("x", &artifact(), json!({})));
    work.write("b_test.jsonl", labelled("x", &artifact(), json!({"model": "SD3"})));
    work.run(&["run", "magicdata340k", "a_test.jsonl", "b_test.jsonl", "-q"]).expect(0);
    assert_eq!(work.row("SELECT generator, n FROM magicdata340k.artifact_rates"), json!({"generator": "SD3", "n": 1}));
    work.write("c_test.jsonl", labelled("x", &artifact(), json!({"model_name": "SDXL"})));
    let ran = work.run(&["ingest", "magicdata340k", "c_test.jsonl"]).expect(1);
    assert!(ran.stderr.contains("two different records about one image of one split"), "{}", ran.stderr);
    let odd = json!({"Whether Normal": false, "Type of Deformity": ["L2: Abnormal Object Morphology"]});
    work.write("d_test.jsonl", labelled("y", &odd, json!({})));
    work.run(&["ingest", "magicdata340k", "d_test.jsonl"]).expect(0);
    assert_eq!(
        work.row("SELECT label, state FROM magicdata340k.labels WHERE image = 'y'"),
        json!({"label": OBJECT, "state": "unknown"})
    );
}

/// What scores nothing costs no record, and the class is what the record says, whether or not the prompts are there.
#[test]
fn magicbench_records_with_odd_fields_count() {
    let work = Workdir::new();
    let line = |prompt: &str, class: &str, key: &str, value: Value| {
        let mut record = json!({"prompt_t2i": prompt, "class": class, "detail_class": "animal_single", "has_subject": true,
            "response": "\\boxed{{\"Whether Normal\": true}}"});
        record[key] = value;
        record.to_string() + "\n"
    };
    work.write(
        "m/r.jsonl",
        line("a", "animal", "gen_images", json!({"x": 1}))
            + &line("b", "animal", "has_subject", json!("unknown"))
            + &line("c", "plant", "gen_images", json!(null)),
    );
    let board = |work: &Workdir| work.row("SELECT n, n_valid, n_animal, animal FROM magicbench.leaderboard");
    let ran = work.run(&["run", "magicbench", "m/r.jsonl"]).expect(0);
    assert!(ran.stderr.contains("says neither true nor false: unknown: 1"), "{}", ran.stderr);
    let wanted = json!({"n": 3, "n_valid": 3, "n_animal": 2, "animal": 100.0});
    assert_eq!(board(&work), wanted);
    let prompt = |prompt: &str| {
        json!({"prompt_t2i": prompt, "class": "animal", "detail_class": "animal_single"}).to_string() + "\n"
    };
    work.write("prompts.jsonl", ["a", "b", "c"].map(prompt).concat());
    work.run(&["run", "magicbench", "prompts.jsonl", "-q"]).expect(0);
    assert_eq!(board(&work), wanted);
    assert_eq!(work.row("SELECT unknown FROM magicbench.ledger WHERE level = 'all'")["unknown"], 1);
    // Case C20: equal scores share a rank.
    work.write("k/r.jsonl", line("a", "animal", "gen_images", json!([])));
    work.run(&["run", "magicbench", "k/r.jsonl", "-q"]).expect(0);
    let ranks = work.sql("SELECT rank FROM magicbench.leaderboard");
    assert_eq!(ranks, [json!({"rank": 1}), json!({"rank": 1})]);
    work.run(&["score", "magicbench", "--protocol", "nominal", "-q"]).expect(0);
    let empty = work.row("SELECT human, n_human FROM magicbench_nominal.leaderboard WHERE model = 'k'");
    assert_eq!(empty, json!({"human": null, "n_human": 0}));
    // Flags on other classes alone do not make a class, in no protocol; a record of it without subject does, in nominal.
    let hand = json!({"Whether Normal": false, "Type of Deformity": {"L2: Abnormal Human Anatomy": []}});
    let no_subject = json!({"prompt_t2i": "z", "class": "object", "has_subject": 0, "response": "?"});
    work.write(
        "h/r.jsonl",
        line("a", "animal", "response", format!("\\boxed{{{hand}}}").into()) + &no_subject.to_string() + "\n",
    );
    work.run(&["run", "magicbench", "h/r.jsonl", "--protocol", "nominal", "-q"]).expect(0);
    let board = work.row("SELECT human, object, overall FROM magicbench_nominal.leaderboard WHERE model = 'h'");
    assert_eq!(board, json!({"human": null, "object": 100.0 * 299.0 / 300.0, "overall": 100.0 * 798.0 / 800.0}));
    let checked = work.run(&["check", "magicbench"]).expect(0);
    assert_eq!(checked.stdout.matches("2 tables, ").count(), 3, "{}", checked.stdout);
}

/// A metric in a column of the scores' own file; a direction that is said again takes the place of the first.
#[test]
fn metrics_beside_the_human_scores() {
    let work = Workdir::new();
    let mut text = String::from("name,mos_quality,mos_align,mine,note\n");
    for k in 0..8 {
        text += &format!("a_b_{k}.jpg,{k},{},{},x\n", (k * 3) % 8, 9 - k);
    }
    work.write("data.csv", text);
    let ran = work.run(&["run", "agiqa-3k", "data.csv"]).expect(0);
    assert!(ran.stderr.contains("keys ignored: note"), "{}", ran.stderr);
    let row = |work: &Workdir| {
        work.row("SELECT n, srcc, direction FROM agiqa_3k.agreement WHERE metric = 'mine' AND target = 'quality' AND group_kind = 'all'")
    };
    assert_eq!(row(&work), json!({"n": 8, "srcc": -1.0, "direction": "higher is better"}));
    let ran = work.run(&["run", "agiqa-3k", "data.csv", "--direction", "mine=lower,typo=lower"]).expect(0);
    assert!(ran.stderr.contains("--direction names no metric of the file: typo"), "{}", ran.stderr);
    assert_eq!(row(&work)["direction"], "lower is better");
    assert_eq!(work.row("SELECT count(*) AS n FROM agiqa_3k.images")["n"], 8);
    let ran = work
        .run(&["--lake", "other", "run", "agiqa-3k", "data.csv", "--direction", "lower,mine=higher", "-q"])
        .expect(0);
    assert_eq!(ran.code, 0);
}

/// Two revisions of the reference are two references; names that FAGER itself uses, and levels it does not know, are refused.
#[test]
fn fager_references_names_and_levels() {
    let work = Workdir::new();
    let line = |answer: &str| {
        json!({"index": 1, "image_id": "1.jpg", "per_question": [{"level": "level_1", "category": "color", "question": "q?", "answer": answer}]}).to_string() + "\n"
    };
    work.write("S/real/details.jsonl", line("yes"));
    work.write("S/fake/details.jsonl", line("unknown"));
    work.write("again/details.jsonl", line("no"));
    work.run(&["ingest", "fager", "S"]).expect(0);
    work.run(&[
        "ingest",
        "fager",
        "again/details.jsonl",
        "--collection",
        "S",
        "--model",
        "real",
        "--model-revision",
        "2",
    ])
    .expect(0);
    work.run(&["score", "fager", "-q", "--intervals", "default"]).expect(0);
    let rows = work.sql("SELECT reference_revision, pairs, correct, wrong FROM fager.ab_accuracy WHERE score_name = 'overall' ORDER BY 1");
    assert_eq!(
        rows,
        [
            json!({"reference_revision": "", "pairs": 1, "correct": 1, "wrong": 0}),
            json!({"reference_revision": "2", "pairs": 1, "correct": 0, "wrong": 1})
        ]
    );
    let checked = work.run(&["check", "fager"]).expect(0);
    assert_eq!(checked.stdout.matches("5 tables, ").count(), 2, "{}", checked.stdout);
    work.write("scores.csv", "collection,run,index,metric,score\nS,real,1,overall,3\n");
    let ran = work.run(&["ingest", "fager", "scores.csv"]).expect(1);
    assert!(ran.stderr.contains("a metric named `overall`, as FAGER's own score"), "{}", ran.stderr);
    work.write("short.csv", "index,metric,score\n1,VQA,3\n2,VQA,abc\n");
    let ran = work.run(&["ingest", "fager", "short.csv"]).expect(1);
    assert!(
        ran.stderr.contains("no `collection`: give the column, or --collection for the whole file"),
        "{}",
        ran.stderr
    );
    work.run(&["ingest", "fager", "short.csv", "--collection", "S", "--model", "fake"]).expect(0);
    let ran = work.run(&["score", "fager"]).expect(0);
    assert!(ran.stderr.contains("1 scores of other metrics are missing or no numbers"), "{}", ran.stderr);
    work.write("odd/details.jsonl", line("yes").replace("level_1", "level_4"));
    let ran = work.run(&["ingest", "fager", "odd/details.jsonl"]).expect(1);
    assert!(
        ran.stderr.contains("question 1: `level` is level_4 where one of level_1, level_2, level_3 is due"),
        "{}",
        ran.stderr
    );
    work.write(
        "bad/details.jsonl",
        line("yes").replace("\"index\":1", "\"index\":1,\"scores\":{\"overall_score\":\"high\"}"),
    );
    let ran = work.run(&["ingest", "fager", "bad/details.jsonl"]).expect(1);
    assert!(ran.stderr.contains("`scores.overall_score` is no finite number"), "{}", ran.stderr);
    for wrong in ["foo", "3;17", "1,,2"] {
        let ran = work.run(&["score", "fager", "--exclude", wrong]).expect(2);
        assert!(ran.stderr.contains("is no index"), "{}", ran.stderr);
    }
}

/// A checker that fails at one level has failed at that level; summaries without answers and runs without reference are told; a
/// number of an image stands in for its index.
#[test]
fn fager_failures_by_level_and_what_is_not_compared() {
    let work = Workdir::new();
    let question = |level: &str, answer: &str, rationale: &str| json!({"level": level, "category": "c", "question": format!("{level} {answer}?"), "answer": answer, "rationale": rationale});
    let line = json!({"image_id": "x/07_ab9.jpg", "per_question": [
        question("level_1", "yes", "Seen."), question("level_1", "unknown", "Error bars hide it."),
        question("level_2", "unknown", "Error: timed out"), question("level_3", "unknown", "Hidden.")]});
    work.write("S/gen/details.jsonl", line.to_string() + "\n");
    work.write("S/gone/summary.csv", "image_file,index,decision,overall_score\n1.jpg,1,keep,99\n");
    let ran = work.run(&["run", "fager", "S"]).expect(0);
    for word in [
        "1 summaries are of images whose answers (details.jsonl) are not in the lake",
        "1 runs are compared with no reference run: S/gen",
        "failed at a level",
    ] {
        assert!(ran.stderr.contains(word), "`{word}`: {}", ran.stderr);
    }
    let states = work.sql("SELECT level, state FROM fager.answers WHERE prompt_index = 7 ORDER BY position");
    let states: Vec<_> = states.iter().map(|row| row["state"].as_str().unwrap().to_owned()).collect();
    assert_eq!(states, ["ok", "ok", "parse_failed", "ok"]);
}

/// `--exclude listed` leaves out what a list in the lake names.
#[test]
fn listed_exclusions_are_applied_on_request() {
    let work = Workdir::new();
    let mut text = String::from("collection,run,prompt_index,metric,score\n");
    (1..=4).for_each(|index| text += &format!("S,real,{index},M,2\nS,gen,{index},M,1\n"));
    work.write("scores.csv", text);
    work.write("S/exclude_index.csv", "index,\n2,\n9,");
    work.run(&["run", "fager", "scores.csv", "S", "-q"]).expect(0);
    assert_eq!(work.row("SELECT pairs, n_excluded FROM fager.ab_accuracy"), json!({"pairs": 4, "n_excluded": 0}));
    let ran = work.run(&["score", "fager", "--exclude", "listed"]).expect(0);
    let id = ran.stderr.split("snapshot ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let ab = work.json(&["show", &format!("fager@{id}"), "ab_accuracy"]);
    assert_eq!((&ab[0]["pairs"], &ab[0]["n_excluded"]), (&json!(3), &json!(1)));
    let by_polars =
        work.json(&["score", "fager", "--exclude", "listed", "--engine", "polars", "--table", "ab_accuracy"]);
    assert_eq!((&by_polars[0]["pairs"], &by_polars[0]["n_excluded"]), (&json!(3), &json!(1)));
}

/// A plan's count of pieces shows that the last one is missing; bare NaN is no score; what comes out goes in as a metric.
#[test]
fn stair_scores_that_are_not_whole() {
    let work = Workdir::new();
    work.write(
        "s.csv",
        "name,k,n,score\na_b_1.jpg,0,3,1\na_b_1.jpg,1,3,1\na_b_1.jpg,2,3,1\na_b_2.jpg,0,1,1\na_b_2.jpg,1,1,3\n",
    );
    let ran = work.run(&["stair", "score", "s.csv", "--format", "csv"]).expect(3);
    assert!(ran.stderr.contains("a_b_1.jpg: no score: a piece has no score"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "name,stair,pieces,whole\na_b_1.jpg,,,1.0\na_b_2.jpg,2.0,3.0,1.0\n");
    work.write("n.jsonl", "{\"name\": \"a\", \"k\": 0, \"score\": NaN}\n{\"name\": \"a\", \"k\": 1, \"score\": 1}\n");
    let rows = work.json(&["stair", "score", "n.jsonl", "--mix", "pieces"]);
    assert_eq!(rows, json!([{"name": "a", "stair": 1.0, "pieces": 1.0, "whole": null}]));
    work.write("metric.csv", ran.stdout);
    work.write("data.csv", "name,mos_quality,mos_align\na_b_1.jpg,1,1\na_b_2.jpg,2,2\n");
    work.run(&["run", "agiqa-3k", "data.csv", "metric.csv", "-q"]).expect(0);
    let ledger = work.row("SELECT ok, missing FROM agiqa_3k.ledger WHERE metric = 'stair' AND level = 'all'");
    assert_eq!(ledger, json!({"ok": 1, "missing": 1}));
}

/// The counts that were looked up by hand in the real file of AGIQA-3K.
#[test]
fn modifiers_and_missing_prompts_of_the_real_file() {
    let (Some(reference), Some(data)) =
        (shared("reference/agiqa_fager_reference.json"), shared("datasets/agiqa-3k/data.csv"))
    else {
        return;
    };
    let reference: Value = serde_json::from_slice(&std::fs::read(reference).unwrap()).unwrap();
    let counts = &reference["agiqa3k"]["counts"];
    let work = Workdir::new();
    work.run(&["ingest", "agiqa-3k", data.to_str().unwrap()]).expect(0);
    for column in ["adj1", "adj2", "style"] {
        let found = work.sql(&format!(
            "SELECT coalesce({column}, '(empty)') AS value, count(*) AS n FROM agiqa_3k.images GROUP BY 1"
        ));
        let found: serde_json::Map<String, Value> =
            found.iter().map(|row| (row["value"].as_str().unwrap().to_owned(), row["n"].clone())).collect();
        let wanted = counts[column].as_object().unwrap();
        assert_eq!(found.len(), wanted.len(), "{column}");
        wanted.iter().for_each(|(value, n)| assert_eq!(found[value], *n, "{column} {value}"));
    }
    for (prefix, missing) in counts["missing_prompt_indices"].as_object().unwrap() {
        let (generator, variant) = prefix.split_once('_').unwrap();
        let rows = work.sql(&format!(
            "SELECT DISTINCT prompt_number AS n FROM agiqa_3k.images
             EXCEPT SELECT prompt_number FROM agiqa_3k.images WHERE generator = '{generator}' AND variant = '{variant}' ORDER BY n"
        ));
        let found: Vec<_> = rows.iter().map(|row| row["n"].clone()).collect();
        assert_eq!(json!(found), *missing, "{prefix}");
    }
    let row = work
        .row("SELECT count(DISTINCT mos_quality) AS quality, count(DISTINCT mos_align) AS align FROM agiqa_3k.images");
    assert_eq!((&row["quality"], &row["align"]), (&counts["distinct_mos_quality"], &counts["distinct_mos_align"]));
}

/// Lines that end in a carriage return alone have numbers, so that setting one aside sets one aside.
#[test]
fn tables_of_carriage_returns_keep_their_rows() {
    let work = Workdir::new();
    work.write("cr.csv", "name,mos_quality,mos_align\ra_n_001.jpg,1,2\rb_n_002.jpg,2,3\rc_n_003.jpg,3,1\r");
    work.write("lf.csv", "name,mos_quality,mos_align\nc_n_003.jpg,3,1\n");
    work.run(&["run", "agiqa-3k", "cr.csv", "lf.csv", "-q"]).expect(0);
    let rows = work.sql("SELECT name, source_line FROM agiqa_3k_parts.images ORDER BY name, source_line");
    let lines: Vec<_> = rows.iter().map(|row| row["source_line"].as_i64().unwrap()).collect();
    assert_eq!(lines, [2, 3, 2, 4]);
    assert_eq!(
        work.row("SELECT expected, ok, duplicate FROM agiqa_3k.ledger WHERE level = 'all' AND metric = ''"),
        json!({"expected": 3, "ok": 3, "duplicate": 1})
    );
    work.write("bad.csv", "name,mos_quality,mos_align\ra_n_001.jpg,1,2\rb_n_002.jpg,x,3\r");
    let ran = work.run(&["--lake", "other", "ingest", "agiqa-3k", "bad.csv"]).expect(1);
    assert!(ran.stderr.contains("line: 3"), "{}", ran.stderr);
}

/// Aggregates over a growing window see all rows so far.
#[test]
fn coefficients_over_windows() {
    let work = Workdir::new();
    let rows = work.sql(
        "SELECT a, krcc(a, b) OVER (ORDER BY a) AS k FROM (VALUES (1.0, 2.0), (3.0, 4.0), (5.0, 1.0), (6.0, 9.0)) AS t(a, b) ORDER BY a",
    );
    let found: Vec<_> = rows.iter().map(|row| row["k"].as_f64()).collect();
    assert_eq!(found[0], None);
    assert_eq!(found[1], Some(1.0));
    assert!((found[3].unwrap() - 1.0 / 3.0).abs() < 1e-15, "{found:?}");
    let null = work.row(
        "SELECT srcc(a, b) AS s, agreement(a, b)['reason'] AS r FROM (VALUES (1.0, NULL), (NULL, 2.0)) AS t(a, b)",
    );
    assert_eq!(null, json!({"s": null, "r": "fewer than 2 pairs"}));
}

/// A question that stands several times about one image: every answer is in the ledger once; images that were not asked for are
/// no coverage.
#[test]
fn every_answer_is_in_the_ledger_once() {
    let work = Workdir::new();
    let question = |answer: Value| json!({"level": "level_1", "category": "c", "question": "q?", "answer": answer});
    let line = |index: u32, answers: &[Value]| {
        let questions: Vec<Value> = answers.iter().map(|answer| question(answer.clone())).collect();
        json!({"index": index, "image_id": "x.jpg", "per_question": questions}).to_string() + "\n"
    };
    let three = [json!("yes"), json!("maybe"), Value::Null];
    work.write(
        "S/real/details.jsonl",
        line(1, &[json!("yes")]) + &line(2, &three) + &line(9, &[json!("no"), json!("yes")]),
    );
    let ledger = |schema: &str| {
        work.row(&format!(
            "SELECT expected, ok, missing, invalid, unexpected, padded FROM {schema}.ledger WHERE level = 'all'"
        ))
    };
    work.run(&["run", "fager", "S", "-q"]).expect(0);
    assert_eq!(
        ledger("fager"),
        json!({"expected": 6, "ok": 6, "missing": 0, "invalid": 0, "unexpected": 0, "padded": 2})
    );
    work.run(&["score", "fager", "--protocol", "strict", "-q"]).expect(0);
    assert_eq!(
        ledger("fager_strict"),
        json!({"expected": 6, "ok": 4, "missing": 1, "invalid": 1, "unexpected": 0, "padded": 0})
    );
    work.write("S/QA.csv", "index,prompt,level,category,question\n1,a,level_1,c,q?\n2,b,level_1,c,q?\n3,c,level_1,c,q?\n4,d,level_1,c,q?\n");
    work.run(&["run", "fager", "S", "-q"]).expect(0);
    assert_eq!(
        ledger("fager"),
        json!({"expected": 4, "ok": 2, "missing": 2, "invalid": 0, "unexpected": 4, "padded": 0})
    );
    assert_eq!(
        work.row("SELECT n, n_expected, coverage FROM fager.leaderboard"),
        json!({"n": 3, "n_expected": 4, "coverage": 0.5})
    );
    let checked = work.run(&["check", "fager"]).expect(0);
    assert_eq!(checked.stdout.matches("5 tables, ").count(), 2, "{}", checked.stdout);
}
