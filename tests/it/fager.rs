//! FAGER: the real collection, the gate's fixtures, and the cases about answers and comparisons.

use serde_json::{Value, json};

use super::util::{Workdir, shared};

#[track_caller]
fn assert_near(found: &Value, wanted: f64, place: &str) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{place}: {found}"));
    assert!((found - wanted).abs() <= 1e-12, "{place}: {found} instead of {wanted}");
}

/// F3 and F4: what must come out of ABO.
#[test]
fn the_real_collection_gives_the_published_tables() {
    let (Some(reference), Some(folder)) = (shared("reference/agiqa_fager_reference.json"), shared("datasets/fager"))
    else {
        return;
    };
    let reference: Value = serde_json::from_slice(&std::fs::read(reference).unwrap()).unwrap();
    let work = Workdir::new();
    let ran = work.run(&["run", "fager", folder.to_str().unwrap()]).expect(0);
    assert!(
        ran.stderr.contains("1 prompts have other texts in the questions than in the prompts file: ABO 98"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("stored scores"), "{}", ran.stderr);
    for (run, overall, levels) in [
        ("real", 93.2898, [(97.6192, 50), (93.3869387755102, 49), (82.01763157894737, 38)]),
        ("flux2", 85.17299999999999, [(94.0502, 50), (88.08918367346939, 49), (61.776315789473685, 38)]),
    ] {
        let board =
            work.row(&format!("SELECT collection, overall, n, n_expected FROM fager.leaderboard WHERE run = '{run}'"));
        assert_near(&board["overall"], overall, run);
        assert_eq!((&board["collection"], &board["n"], &board["n_expected"]), (&json!("ABO"), &json!(50), &json!(50)));
        for (place, (score, n)) in levels.into_iter().enumerate() {
            let level = work.row(&format!(
                "SELECT score, n FROM fager.by_level WHERE run = '{run}' AND level = 'level_{}'",
                place + 1
            ));
            assert_near(&level["score"], score, run);
            assert_eq!(level["n"], n);
        }
        let decisions =
            work.row(&format!("SELECT n_keep, n_edit, n_regenerate FROM fager.leaderboard WHERE run = '{run}'"));
        let wanted = if run == "real" { [26, 24, 0] } else { [21, 29, 0] };
        assert_eq!(decisions, json!({"n_keep": wanted[0], "n_edit": wanted[1], "n_regenerate": wanted[2]}));
    }
    assert_eq!(work.row("SELECT count(*) AS n FROM fager.image_scores WHERE equals_stored")["n"], 100);
    for (name, wanted) in reference["fager"]["ABO"]["factual_ab"]["no_exclusion"].as_object().unwrap() {
        let found = work.row(&format!("SELECT * FROM fager.ab_accuracy WHERE score_name = '{name}'"));
        for count in ["pairs", "correct", "ties", "wrong"] {
            assert_eq!(found[count], wanted[count], "{name} {count}");
        }
        for (ours, theirs) in [
            ("acc_full", "acc_full"),
            ("acc_zero", "acc_zero"),
            ("acc_skip", "acc_skip"),
            ("margin_mean", "margin_mean"),
            ("margin_sd", "margin_std_ddof0"),
        ] {
            assert_near(&found[ours], wanted[theirs].as_f64().unwrap(), &format!("{name} {ours}"));
        }
        let indices: Vec<_> = wanted["wrong_indices"].as_array().unwrap().iter().map(Value::to_string).collect();
        assert_eq!(found["wrong_indices"], indices.join(","), "{name}");
        assert_eq!((&found["reference_run"], &found["generated_run"]), (&json!("real"), &json!("flux2")));
    }
    // The published accuracy is overall, ties full: 0.82. The list of exclusions names none of these prompts (D18: 50 of them).
    assert_eq!(work.row("SELECT count(*) AS n FROM fager.exclusions")["n"], 50);
    let published = work.row(
        "SELECT p.accuracy AS published, a.acc_full AS ours
         FROM published.fager_ab_accuracy AS p JOIN fager.ab_accuracy AS a ON p.dataset = a.collection AND a.score_name = 'overall'
         WHERE p.metric = 'FAGER'",
    );
    assert_eq!(published["published"], published["ours"]);
    let by_polars = work.run(&["check", "fager"]).expect(0);
    assert_eq!(by_polars.stdout.matches("5 tables, ").count(), 2, "{}", by_polars.stdout);
    // Strict: unrounded everywhere, no other difference on these files.
    work.run(&["score", "fager", "--protocol", "strict", "-q"]).expect(0);
    let strict = work.row("SELECT overall, overall_unrounded FROM fager_strict.leaderboard WHERE run = 'flux2'");
    assert_eq!(strict["overall"], strict["overall_unrounded"]);
    // An index left out by name.
    let ran = work.run(&["score", "fager", "--exclude", "3, 17"]).expect(0);
    let id = ran.stderr.split("snapshot ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let ab = work.json(&["show", &format!("fager@{id}"), "ab_accuracy"]);
    let overall = ab.as_array().unwrap().iter().find(|row| row["score_name"] == "overall").unwrap().clone();
    assert_eq!((&overall["pairs"], &overall["wrong"], &overall["n_excluded"]), (&json!(48), &json!(7), &json!(2)));
}

/// A details line: answers by level.
fn details(index: usize, levels: [&[Value]; 3]) -> String {
    let questions: Vec<Value> = levels
        .iter()
        .enumerate()
        .flat_map(|(level, answers)| {
            answers.iter().enumerate().map(move |(at, answer)| {
                json!({"level": format!("level_{}", level + 1), "category": "color", "question": format!("q{level}.{at}?"), "answer": answer})
            })
        })
        .collect();
    json!({"index": index, "image_id": format!("{index}.jpg"), "per_question": questions}).to_string() + "\n"
}

#[test]
fn all_gate_fixtures() {
    let Some(reference) = shared("reference/agiqa_fager_reference.json") else { return };
    let reference: Value = serde_json::from_slice(&std::fs::read(reference).unwrap()).unwrap();
    let fixtures = reference["fager"]["gate_fixtures"].as_array().unwrap();
    assert_eq!(fixtures.len(), 15);
    let work = Workdir::new();
    let mut text = String::new();
    for (at, fixture) in fixtures.iter().enumerate() {
        let level = |name: &str| fixture[name].as_array().unwrap().clone();
        let (one, two, three) = (level("level_1"), level("level_2"), level("level_3"));
        text += &details(at + 1, [&one, &two, &three]);
    }
    work.write("Set/run/details.jsonl", &text);
    work.run(&["run", "fager", "Set/run/details.jsonl", "-q"]).expect(0);
    for (at, fixture) in fixtures.iter().enumerate() {
        let found = work.row(&format!(
            "SELECT decision, python_round2(level_1) AS level_1, python_round2(level_2) AS level_2, python_round2(level_3) AS level_3,
                overall_rounded AS overall, n AS n_total, gated FROM fager.image_scores WHERE prompt_index = {}",
            at + 1
        ));
        let wanted = &fixture["expect"];
        for column in ["decision", "level_1", "level_2", "level_3", "overall", "n_total"] {
            assert_eq!(found[column], wanted[column], "{}: {column}", fixture["name"]);
        }
        assert_eq!(found["gated"], wanted["decision"] == "regenerate", "{}", fixture["name"]);
    }
    // The thresholds are parameters.
    let ran =
        work.run(&["score", "fager", "--set", "regenerate_threshold=19.9", "--set", "keep_threshold=94.7"]).expect(0);
    let id = ran.stderr.split("snapshot ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let scores = work.json(&["show", &format!("fager@{id}"), "image_scores"]);
    assert_eq!(scores[0]["decision"], "edit");
    assert_eq!(scores[5]["decision"], "keep");
    work.run(&["check", "fager"]).expect(0);
}

/// Cases B15 and B16, B19: a failed checker, gated levels, answers that are none, in both readings.
#[test]
fn odd_answers_in_both_readings() {
    let work = Workdir::new();
    let yes = || json!("yes");
    let failed = json!({"index": 1, "image_id": "1.jpg", "per_question": [
        {"level": "level_1", "category": "color", "question": "a?", "answer": "unknown", "rationale": "Error: the request timed out"},
        {"level": "level_2", "category": "color", "question": "b?", "answer": "unknown", "rationale": "Error: the request timed out"}]});
    let unsure = json!({"index": 2, "image_id": "2.jpg", "per_question": [
        {"level": "level_1", "category": "color", "question": "a?", "answer": "unknown", "rationale": "Hidden behind the box."}]});
    let mut text = format!("{failed}\n{unsure}\n");
    text += &details(3, [&[json!("no"), json!("no")], &[yes(), yes()], &[]]);
    text += &details(4, [&[yes(), json!("perhaps")], &[Value::Null], &[]]);
    text += &details(
        5,
        [&[yes(), yes(), yes(), yes(), yes(), yes(), yes(), yes(), json!("no"), json!("no"), json!("no")], &[], &[]],
    );
    work.write("Set/run/details.jsonl", &text);
    let ran = work.run(&["run", "fager", "Set/run/details.jsonl"]).expect(0);
    for word in ["1 images are gated", "4 answers count as unknown because", "images on which the checker failed"] {
        assert!(ran.stderr.contains(word), "`{word}`: {}", ran.stderr);
    }
    work.run(&["score", "fager", "--protocol", "strict", "-q"]).expect(0);
    let scores = |schema: &str| {
        let rows = work
            .sql(&format!("SELECT prompt_index, overall, decision, n, level_2 FROM {schema}.image_scores ORDER BY 1"));
        rows.iter()
            .map(|row| (row["overall"].as_f64(), row["decision"].as_str().map(str::to_owned), row["n"].as_i64()))
            .collect::<Vec<_>>()
    };
    let edit = || Some("edit".to_owned());
    let (official, strict) = (scores("fager"), scores("fager_strict"));
    assert_eq!(official[0], (Some(50.0), edit(), Some(2)));
    assert_eq!(strict[0], (None, None, Some(0)), "no usable answer of level 1: null, not regenerate");
    assert_eq!(
        (official[1].clone(), strict[1].clone()),
        ((Some(50.0), edit(), Some(1)), (Some(50.0), edit(), Some(1)))
    );
    assert_eq!(official[2], (Some(0.0), Some("regenerate".to_owned()), Some(2)));
    assert_eq!(official[3], (Some(2.0 / 3.0 * 100.0), edit(), Some(3)));
    assert_eq!(strict[3], (Some(100.0), Some("keep".to_owned()), Some(1)));
    assert_eq!(official[4], (Some(8.0 / 11.0 * 100.0), edit(), Some(11)));
    let rounded = work.row("SELECT overall_rounded FROM fager.image_scores WHERE prompt_index = 5");
    assert_eq!(rounded["overall_rounded"], 72.73);
    let ledger = |schema: &str| {
        work.row(&format!("SELECT expected, ok, missing, invalid, parse_failed, skipped, padded FROM {schema}.ledger WHERE level = 'all'"))
    };
    assert_eq!(
        ledger("fager"),
        json!({"expected": 21, "ok": 19, "missing": 0, "invalid": 0, "parse_failed": 0, "skipped": 2, "padded": 4})
    );
    assert_eq!(
        ledger("fager_strict"),
        json!({"expected": 21, "ok": 15, "missing": 1, "invalid": 1, "parse_failed": 2, "skipped": 2, "padded": 0})
    );
    let checked = work.run(&["check", "fager"]).expect(0);
    assert_eq!(checked.stdout.matches("the same to 1e-9").count(), 2, "{}", checked.stdout);
}

/// Case C14: 22 correct, 7 ties, 1 wrong under three policies; lower is better; no pair left; and the names are told.
#[test]
fn three_tie_policies() {
    let work = Workdir::new();
    let mut text = String::from("collection,run,prompt_index,metric,score\n");
    for index in 1..=30 {
        let (real, fake) = match index {
            0..=22 => (2.0, 1.0),
            23..=29 => (1.5, 1.5),
            _ => (1.0, 2.0),
        };
        text += &format!("Culture,real,{index},Higher,{real}\nCulture,sdxl,{index},Higher,{fake}\n");
        text += &format!("Culture,real,{index},LPIPS,{}\nCulture,sdxl,{index},LPIPS,{}\n", -real, -fake);
        text += &format!("Culture,real,{index},Same,1\nCulture,sdxl,{index},Same,1\n");
    }
    text += "Culture,real,31,Higher,\nCulture,sdxl,31,Higher,9\n";
    work.write("scores.csv", &text);
    work.run(&["run", "fager", "scores.csv", "-q"]).expect(0);
    for metric in ["Higher", "LPIPS"] {
        let row = work.row(&format!("SELECT pairs, correct, ties, wrong, acc_full, acc_zero, acc_skip, direction FROM fager.ab_accuracy WHERE score_name = '{metric}'"));
        assert_eq!(
            (&row["pairs"], &row["correct"], &row["ties"], &row["wrong"]),
            (&json!(30), &json!(22), &json!(7), &json!(1))
        );
        assert_near(&row["acc_full"], 29.0 / 30.0, metric);
        assert_near(&row["acc_zero"], 22.0 / 30.0, metric);
        assert_near(&row["acc_skip"], 22.0 / 23.0, metric);
        assert_eq!(row["direction"], if metric == "LPIPS" { "lower is better" } else { "higher is better" });
    }
    let same = work.row("SELECT acc_full, acc_zero, acc_skip FROM fager.ab_accuracy WHERE score_name = 'Same'");
    assert_eq!(same, json!({"acc_full": 1.0, "acc_zero": 0.0, "acc_skip": null}));
    work.run(&["check", "fager"]).expect(0);
    // Another reference.
    let ran = work.run(&["score", "fager", "--set", "reference_run=sdxl"]).expect(0);
    let id = ran.stderr.split("snapshot ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let ab = work.json(&["show", &format!("fager@{id}"), "ab_accuracy"]);
    assert_eq!((&ab[0]["reference_run"], &ab[0]["generated_run"]), (&json!("sdxl"), &json!("real")));
}

/// Names from folders, from options, and ties that rounding makes; a second checker is an entry of its own.
#[test]
fn names_ties_by_rounding_and_two_checkers() {
    let work = Workdir::new();
    let yes = |n: usize| vec![json!("yes"); n];
    let (mut real, mut fake) = (yes(16), yes(16));
    // Level 1 of 16 questions: 14.5 and 14.5 halves are the same; overall over 16001 questions is beyond what files have, so ties by
    // rounding are made with scores that differ by less than a hundredth: 13 of 17 and 10400 of 13600.
    real.truncate(0);
    fake.truncate(0);
    real.extend(yes(20000));
    real.push(json!("no"));
    fake.extend(yes(20001));
    fake.push(json!("no"));
    work.write("Set/real/details.jsonl", details(1, [&real, &[], &[]]));
    work.write("elsewhere/x.jsonl", details(1, [&fake, &[], &[]]));
    work.run(&["ingest", "fager", "Set/real/details.jsonl"]).expect(0);
    work.run(&["ingest", "fager", "elsewhere/x.jsonl", "--collection", "Set", "--model", "mine"]).expect(0);
    work.run(&["score", "fager", "-q"]).expect(0);
    let row =
        work.row("SELECT generated_run, ties, ties_by_rounding FROM fager.ab_accuracy WHERE score_name = 'overall'");
    assert_eq!(row, json!({"generated_run": "mine", "ties": 1, "ties_by_rounding": 1}));
    work.run(&["score", "fager", "--protocol", "strict", "-q"]).expect(0);
    let row =
        work.row("SELECT ties, wrong, ties_by_rounding FROM fager_strict.ab_accuracy WHERE score_name = 'overall'");
    assert_eq!(row, json!({"ties": 0, "wrong": 1, "ties_by_rounding": 0}));
    work.write("other/details.jsonl", details(1, [&[json!("no"), json!("yes")], &[], &[]]));
    work.run(&[
        "ingest",
        "fager",
        "other/details.jsonl",
        "--collection",
        "Set",
        "--model",
        "mine",
        "--judge",
        "second",
    ])
    .expect(0);
    work.run(&["score", "fager", "-q"]).expect(0);
    let rows = work.sql("SELECT run, judge FROM fager.leaderboard ORDER BY run, judge");
    assert_eq!(
        rows,
        [
            json!({"run": "mine", "judge": ""}),
            json!({"run": "mine", "judge": "second"}),
            json!({"run": "real", "judge": ""})
        ]
    );
    let ran = work.run(&["ingest", "fager", "other/details.jsonl", "--collection", "Set", "--model", "mine"]).expect(1);
    assert!(ran.stderr.contains("two different records about one image or score of a run"), "{}", ran.stderr);
}

/// Stored scores that are not those of the answers are told, and the questions that a run leaves unanswered are missing.
#[test]
fn stored_scores_and_questions_are_held_against_the_answers() {
    let work = Workdir::new();
    let line = |index: usize, overall: f64| {
        json!({"index": index, "image_id": format!("{index}.jpg"), "gating": {"decision": "keep"}, "scores": {"overall_score": overall, "level_scores": {"level_1": 100.0}},
            "per_question": [{"level": "level_1", "category": "color", "question": "red?", "answer": "yes"}]})
        .to_string()
            + "\n"
    };
    work.write("Set/real/details.jsonl", line(1, 100.0) + &line(2, 99.0));
    work.write("Set/QA.csv", "index,prompt,level,category,question\n1,a,level_1,color,red?\n1,a,level_2,shape,round?\n2,b,level_1,color,red ?\n3,c,level_1,color,red?\n");
    let ran = work.run(&["run", "fager", "Set"]).expect(0);
    for word in ["the stored scores of 1 images differ", "the first of them: Set/real 2", "1 unexpected, 3 missing"] {
        assert!(ran.stderr.contains(word), "`{word}`: {}", ran.stderr);
    }
    assert_eq!(
        work.row("SELECT expected, ok, missing, unexpected FROM fager.ledger WHERE level = 'all'"),
        json!({"expected": 4, "ok": 1, "missing": 3, "unexpected": 1})
    );
    assert_near(&work.row("SELECT coverage FROM fager.leaderboard")["coverage"], 2.0 / 3.0, "coverage");
    // The same question with two categories is a contradiction.
    work.write("Set/more.csv", "index,prompt,level,category,question\n1,a,level_1,shape,red?\n");
    let ran = work.run(&["ingest", "fager", "Set/more.csv"]).expect(1);
    assert!(ran.stderr.contains("has different categories in two places"), "{}", ran.stderr);
}
