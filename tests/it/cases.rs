//! Cases A and B end to end: from a line to states, scores and ledger, under both readings.

use serde_json::{Value, json};

use super::util::{Workdir, line};

const DIMS: &str = "Quality / Realism / Physical Logic";

/// A lake with prompt 1 whose Quality reply is `reply`, scored under both protocols.
fn scored(reply: impl Into<Value>) -> Workdir {
    let work = Workdir::new();
    work.write("r.jsonl", line(1, DIMS, &[("m", json!("m/1.png")), ("quality_response_m", reply.into())]));
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    work.run(&["score", "qwen-image-bench", "--protocol", "strict"]).expect(0);
    work
}

/// Score of a facet, null if it has none.
fn facet(work: &Workdir, protocol: &str, facet: &str) -> Value {
    let rows = work.sql(&format!("SELECT score FROM {}.by_facet WHERE facet = '{facet}'", schema(protocol)));
    rows.first().map_or(Value::Null, |row| row["score"].clone())
}

fn schema(protocol: &str) -> &'static str {
    if protocol == "strict" { "qwen_image_bench_strict" } else { "qwen_image_bench" }
}

/// The ledger's row of an item, without the columns that are 0.
fn ledger(work: &Workdir, protocol: &str, level: &str, item: &str) -> Value {
    let row = work.row(&format!(
        "SELECT expected, ok, na, missing, invalid, parse_failed, unexpected, unknown, duplicate
         FROM {}.ledger WHERE level = '{level}' AND item = '{item}'",
        schema(protocol)
    ));
    let kept = row.as_object().unwrap().iter().filter(|(_, count)| **count != json!(0));
    Value::Object(kept.map(|(name, count)| (name.clone(), count.clone())).collect())
}

fn verdict(score: &str) -> String {
    format!(r#"{{"Realism":{{"Physical Logic":{{"score":{score}}}}}}}"#)
}

const LOGIC: &str = "Quality / Realism / Physical Logic";

/// Score and ledger of the facet under (official, strict).
#[track_caller]
fn assert_case(reply: &str, official: (Value, Value), strict: (Value, Value)) {
    let work = scored(reply);
    for (protocol, (score, states)) in [("official", official), ("strict", strict)] {
        assert_eq!(facet(&work, protocol, "Physical Logic"), score, "{protocol} score of {reply}");
        assert_eq!(ledger(&work, protocol, "facet", LOGIC), states, "{protocol} ledger of {reply}");
    }
}

fn ok() -> Value {
    json!({ "expected": 1, "ok": 1 })
}

fn state(name: &str) -> Value {
    json!({ "expected": 1, name: 1 })
}

#[test]
fn a01_fences_are_repaired_and_counted() {
    let work = scored(format!("```json\n{}\n```", verdict("2")));
    let repairs = work.sql("SELECT kind, protocol, n FROM qwen_image_bench.repairs ORDER BY protocol");
    assert_eq!(
        repairs,
        [
            json!({ "kind": "braces", "protocol": "official", "n": 1 }),
            json!({ "kind": "fence", "protocol": "strict", "n": 1 })
        ]
    );
    assert_eq!(facet(&work, "strict", "Physical Logic"), json!(100.0));
    assert_eq!(facet(&work, "official", "Physical Logic"), json!(100.0));
}

#[test]
fn a03_reasoning_cut_by_the_token_limit() {
    let reply = format!("<think>perhaps {} because", verdict("0"));
    assert_case(&reply, (json!(0.0), ok()), (Value::Null, state("parse_failed")));
    let work = scored(reply);
    assert_eq!(work.row("SELECT reason FROM qwen_image_bench.responses")["reason"], "reasoning not closed");
}

#[test]
fn a06_a_closing_tag_without_an_opening_one() {
    let reply = format!("reasons</think>\n{}", verdict("1"));
    assert_case(&reply, (json!(60.0), ok()), (json!(60.0), ok()));
}

#[test]
fn a10_to_a17_values() {
    let missing = (Value::Null, state("missing"));
    let na = (Value::Null, state("na"));
    let invalid = (Value::Null, state("invalid"));
    for score in ["\"n/a\"", "\"N/A\""] {
        assert_case(&verdict(score), na.clone(), na.clone());
    }
    for score in ["null", "\"\""] {
        assert_case(&verdict(score), missing.clone(), missing.clone());
    }
    assert_case(&verdict("1.0"), (json!(60.0), ok()), (json!(60.0), ok()));
    for score in ["3", "NaN", "Infinity"] {
        assert_case(&verdict(score), invalid.clone(), invalid.clone());
    }
    assert_case(&verdict("1.7"), (json!(60.0), ok()), invalid);
    assert_case(r#"{"Realism":{"Physical Logic":{"rationale":"could not evaluate"}}}"#, missing.clone(), missing);
}

#[test]
fn a16_odd_numbers_touch_only_their_cells() {
    let work = Workdir::new();
    let mut lines = String::new();
    for id in 1..=1000 {
        let score = match id {
            10 => "NaN",
            20 => "Infinity",
            _ => "2",
        };
        lines += &line(id, DIMS, &[("m", json!("x")), ("quality_response_m", json!(verdict(score)))]);
    }
    work.write("r.jsonl", lines);
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    work.run(&["score", "qwen-image-bench", "--protocol", "strict"]).expect(0);
    for protocol in ["official", "strict"] {
        assert_eq!(ledger(&work, protocol, "facet", LOGIC), json!({ "expected": 1000, "ok": 998, "invalid": 2 }));
        let row = work.row(&format!("SELECT overall, n FROM {}.leaderboard", schema(protocol)));
        assert_eq!(row, json!({ "overall": 100.0, "n": 998 }));
    }
}

#[test]
fn a18_a_refusal_is_no_score() {
    let work = scored("I cannot help with that.");
    for protocol in ["official", "strict"] {
        // It fails all six expected cells of its pillar.
        assert_eq!(ledger(&work, protocol, "pillar", "Quality"), json!({ "expected": 6, "parse_failed": 6 }));
        let row = work.row(&format!("SELECT rank, overall, n FROM {}.leaderboard", schema(protocol)));
        assert_eq!(row, json!({ "rank": null, "overall": null, "n": 0 }), "{protocol}: listed, not lost, not zero");
    }
}

#[test]
fn a20_prose_with_braces() {
    let reply = format!("Notes {{see below}} then {}", verdict("1"));
    assert_case(&reply, (Value::Null, state("parse_failed")), (json!(60.0), ok()));
}

#[test]
fn a21_trailing_commas() {
    let reply = r#"{"Realism":{"Physical Logic":{"why":"a,}","score":1},}}"#;
    assert_case(reply, (Value::Null, state("parse_failed")), (json!(60.0), ok()));
}

#[test]
fn a25_invented_capabilities() {
    let work = scored(r#"{"Realism":{"Physical Logic":{"score":0}},"Vibes":{"Cool":{"score":2}}}"#);
    assert_eq!(work.row("SELECT score FROM qwen_image_bench.by_pillar")["score"], json!(50.0));
    assert_eq!(work.row("SELECT score FROM qwen_image_bench_strict.by_pillar")["score"], json!(0.0));
    for protocol in ["official", "strict"] {
        assert_eq!(ledger(&work, protocol, "facet", "Quality / Vibes / Cool"), json!({ "unknown": 1 }));
        assert_eq!(ledger(&work, protocol, "all", ""), json!({ "expected": 6, "ok": 1, "missing": 5, "unknown": 1 }));
    }
}

#[test]
fn a26_and_a27_awkward_json_keeps_its_line() {
    let work = Workdir::new();
    let text = format!(
        r#"{{"ID": 1, "dims_en": "{DIMS}", "prompt_en": "a \ud83d cat", "seed": 18446744073709551616, "quality_response_m": "{}"}}"#,
        verdict("2").replace('"', "\\\"")
    );
    work.write("r.jsonl", text);
    let ran = work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    assert!(ran.stderr.contains("lone surrogates replaced by U+FFFD: 1"), "{}", ran.stderr);
    assert!(ran.stderr.contains("keys ignored: seed"), "{}", ran.stderr);
    assert_eq!(work.row("SELECT prompt_en FROM qwen_image_bench.prompts")["prompt_en"], "a \u{fffd} cat");
    assert_eq!(facet(&work, "official", "Physical Logic"), json!(100.0));
}

#[test]
fn b01_overall_is_per_prompt_then_averaged() {
    let work = Workdir::new();
    let dims = format!("{DIMS}; Alignment / Layout / 2D Space");
    let layout = |score: u8| json!(format!(r#"{{"Layout":{{"2D Space":{{"score":{score}}}}}}}"#));
    let lines = line(1, &dims, &[("quality_response_m", json!(verdict("2"))), ("alignment_response_m", layout(0))])
        + &line(2, DIMS, &[("quality_response_m", json!(verdict("1")))]);
    work.write("r.jsonl", lines);
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    let row = work.row("SELECT overall, quality, alignment, n, creative_generation FROM qwen_image_bench.leaderboard");
    // Prompt 1: (100 + 0) / 2 = 50; prompt 2: 60; overall 55, while the pillars are 80 and 0.
    assert_eq!(row, json!({ "overall": 55.0, "quality": 80.0, "alignment": 0.0, "n": 2, "creative_generation": null }));
}

#[test]
fn capabilities_are_not_flattened() {
    // Detail has two facets and Realism one: (mean(100, 0) + 60) / 2 = 55, not (100 + 0 + 60) / 3.
    let reply =
        r#"{"Detail":{"Noise":{"score":2},"Edge Clarity":{"score":0}},"Realism":{"Physical Logic":{"score":1}}}"#;
    assert_eq!(scored(reply).row("SELECT overall FROM qwen_image_bench.leaderboard")["overall"], json!(55.0));
}

#[test]
fn b02_a_model_that_appears_on_a_later_line() {
    let work = Workdir::new();
    let reply = json!(verdict("2"));
    let lines = line(1, DIMS, &[("quality_response_a", reply.clone()), ("quality_response_b", reply.clone())])
        + &line(
            2,
            DIMS,
            &[
                ("quality_response_a", reply.clone()),
                ("quality_response_b", reply.clone()),
                ("quality_response_c", reply),
            ],
        );
    work.write("r.jsonl", lines);
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    let rows = work.sql("SELECT rank, model, n, coverage FROM qwen_image_bench.leaderboard");
    assert_eq!(rows[2], json!({ "rank": 1, "model": "c", "n": 1, "coverage": 0.5 }));
    let missing = work.row("SELECT expected, ok, missing FROM qwen_image_bench.ledger WHERE model = 'c' AND level = 'pillar' AND item = 'Quality'");
    assert_eq!(missing, json!({ "expected": 12, "ok": 1, "missing": 11 }));

    // strict ranks from 95 % coverage.
    work.run(&["score", "qwen-image-bench", "--protocol", "strict"]).expect(0);
    let rows = work.sql("SELECT rank, model FROM qwen_image_bench_strict.leaderboard");
    assert_eq!(
        rows,
        [json!({ "rank": 1, "model": "a" }), json!({ "rank": 1, "model": "b" }), json!({ "rank": null, "model": "c" })]
    );
    let ran = work.run(&["score", "qwen-image-bench", "--protocol", "strict", "--min-coverage", "0.5"]).expect(0);
    assert!(ran.stderr.contains("not the latest of its protocol"), "{}", ran.stderr);
}

#[test]
fn b03_a_total_over_fewer_pillars_says_so() {
    let work = Workdir::new();
    let dims = format!("{DIMS}; Alignment / Layout / 2D Space");
    work.write(
        "r.jsonl",
        line(1, &dims, &[("quality_response_m", json!(verdict("2"))), ("alignment_response_m", json!(" "))]),
    );
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    let row = work.row("SELECT overall, n_pillars, n_active, complete FROM qwen_image_bench.prompt_scores");
    assert_eq!(row, json!({ "overall": 100.0, "n_pillars": 1, "n_active": 2, "complete": false }));
    assert_eq!(work.row("SELECT n, n_complete FROM qwen_image_bench.leaderboard"), json!({ "n": 1, "n_complete": 0 }));
    assert_eq!(ledger(&work, "official", "pillar", "Alignment"), json!({ "expected": 16, "missing": 16 }));
}

#[test]
fn b05_ids_join_whatever_their_type() {
    let work = Workdir::new();
    work.write("meta.json", format!(r#"[{{"ID": "7", "dims_en": "{DIMS}"}}, {{"ID": 8.0, "dims_en": "{DIMS}"}}]"#));
    let reply = verdict("2").replace('"', "\\\"");
    let lines: String =
        ["7", "8", "9.0"].map(|id| format!("{{\"ID\": {id}, \"quality_response_m\": \"{reply}\"}}\n")).concat();
    work.write("r.jsonl", lines);
    let ran = work.run(&["run", "qwen-image-bench", "r.jsonl", "meta.json"]).expect(3);
    assert!(ran.stderr.contains("1 prompt IDs have replies but no metadata, the first of them: 9"), "{}", ran.stderr);
    let row = work.row("SELECT n, n_expected, coverage FROM qwen_image_bench.leaderboard");
    assert_eq!(row, json!({ "n": 3, "n_expected": 2, "coverage": 1.0 }), "unmatched prompts still score");
    assert_eq!(ledger(&work, "official", "facet", LOGIC), json!({ "expected": 2, "ok": 2, "unexpected": 1 }));
}

#[test]
fn no_metadata_at_all_is_said_and_no_failure() {
    let work = Workdir::new();
    let reply = verdict("2").replace('"', "\\\"");
    work.write("r.jsonl", format!("{{\"ID\": 1, \"quality_response_m\": \"{reply}\"}}\n"));
    let ran = work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    assert!(ran.stderr.contains("no metadata in the lake"), "{}", ran.stderr);
    let row = work.row("SELECT rank, overall, n_expected, coverage FROM qwen_image_bench.leaderboard");
    assert_eq!(row, json!({ "rank": 1, "overall": 100.0, "n_expected": null, "coverage": null }));
    let row = work.row("SELECT expected, ok, missing FROM qwen_image_bench.ledger WHERE level = 'all'");
    assert_eq!(row, json!({ "expected": null, "ok": 1, "missing": null }));
}

#[test]
fn b27_the_alias_is_applied_and_counted() {
    let work = Workdir::new();
    let reply = r#"{"Feature Mapping":{"Feature Mapping":{"score":2},"Feature Maching":{"score":1}}}"#;
    let dims = "Creative Generation / Feature Matching / Feature Matching";
    work.write("r.jsonl", line(1, dims, &[("creative_generation_response_m", json!(reply))]));
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    assert_eq!(work.sql("SELECT protocol, n FROM qwen_image_bench.repairs WHERE kind = 'alias'").len(), 2);
    assert_eq!(facet(&work, "official", "Feature Matching"), json!(100.0));
    let unknown = ledger(&work, "official", "facet", "Creative Generation / Feature Matching / Feature Maching");
    assert_eq!(unknown, json!({ "unknown": 1 }));
}

#[test]
fn facets_of_the_metadata_only() {
    let work = scored(r#"{"Realism":{"Physical Logic":{"score":0},"Material Texture":{"score":2}}}"#);
    assert_eq!(work.row("SELECT overall FROM qwen_image_bench.leaderboard")["overall"], json!(50.0));
    let ran = work.run(&["score", "qwen-image-bench", "--facets", "metadata", "-v"]).expect(0);
    let id = ran.stderr.lines().find_map(|line| line.strip_prefix("snapshot ")).unwrap()[..12].to_owned();
    let board = work.json(&["show", &format!("qwen-image-bench@{id}")]);
    assert_eq!(board[0]["overall"], json!(0.0));
    let ledger = work.json(&["show", &format!("qwen-image-bench@{id}"), "ledger"]);
    let all = ledger.as_array().unwrap().iter().find(|row| row["level"] == "all").unwrap();
    assert_eq!((&all["expected"], &all["ok"], &all["unexpected"]), (&json!(1), &json!(1), &json!(1)));
}

#[test]
fn english_images_are_a_language_of_their_model() {
    let work = Workdir::new();
    let reply = json!(verdict("2"));
    // x_en has no image key of its own: English of x. solo_en has one: a model. lone_en has no base: a model.
    let text = line(
        1,
        DIMS,
        &[
            ("x", json!("x/1.png")),
            ("quality_response_x", reply.clone()),
            ("quality_response_x_en", reply.clone()),
            ("solo_en", json!("solo/1.png")),
            ("quality_response_solo", reply.clone()),
            ("quality_response_solo_en", reply.clone()),
            ("quality_response_lone_en", reply),
            ("unused", json!("unused/1.png")),
        ],
    );
    work.write("r.jsonl", text);
    let ran = work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    assert!(ran.stderr.contains("keys ignored: unused"), "{}", ran.stderr);
    let rows = work.sql("SELECT model, lang FROM qwen_image_bench.leaderboard ORDER BY model, lang");
    let found: Vec<_> = rows
        .iter()
        .map(|row| format!("{} {}", row["model"].as_str().unwrap(), row["lang"].as_str().unwrap()))
        .collect();
    assert_eq!(found, ["lone_en cn", "solo cn", "solo_en cn", "x cn", "x en"]);
}

#[test]
fn a_name_taken_differently_on_two_lines_is_told() {
    let work = Workdir::new();
    let reply = json!(verdict("2"));
    let lines = line(1, DIMS, &[("x", json!("x")), ("quality_response_x_en", reply.clone())])
        + &line(2, DIMS, &[("x_en", json!("x")), ("quality_response_x_en", reply)]);
    work.write("r.jsonl", lines);
    let ran = work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    assert!(
        ran.stderr.contains("`x_en` is English of its base on some lines and a model of its own on others"),
        "{}",
        ran.stderr
    );
}

#[test]
fn equal_scores_share_a_rank() {
    let work = Workdir::new();
    let replies = [("a", "1"), ("b", "2"), ("c", "1"), ("d", "0")]
        .map(|(name, score)| (format!("quality_response_{name}"), json!(verdict(score))));
    let replies: Vec<_> = replies.iter().map(|(key, reply)| (key.as_str(), reply.clone())).collect();
    work.write("r.jsonl", line(1, DIMS, &replies));
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    let ranks: Vec<_> = work
        .sql("SELECT rank, model FROM qwen_image_bench.leaderboard ORDER BY rank, model")
        .iter()
        .map(|row| format!("{} {}", row["rank"], row["model"].as_str().unwrap()))
        .collect();
    assert_eq!(ranks, ["1 b", "2 a", "2 c", "4 d"]);
}
