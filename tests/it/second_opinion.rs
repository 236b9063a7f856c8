//! Every score and every ledger count, computed again by plain loops over the same replies.

use std::collections::{BTreeMap, BTreeSet};

use scorelake::assets::Assets;
use scorelake::ingest::Notes;
use scorelake::ingest::qwen_image_bench::cell::{Outcome, State};
use scorelake::ingest::qwen_image_bench::{metadata, reply};
use scorelake::python::json::{self, Value};
use scorelake::schema::taxonomy::Rubric;
use serde_json::Value as Json;

use super::util::Workdir;

type Cell = (String, String, String);

/// Pillar → capability → scores of one image.
type Image = BTreeMap<String, BTreeMap<String, Vec<f64>>>;

/// What one image's reply on one pillar gives under one reading.
#[derive(Default)]
struct Naive {
    /// (model, lang) → prompt → pillar → capability → scores
    scores: BTreeMap<(String, String), BTreeMap<i64, Image>>,
    /// (model, lang, facet path) → state → count
    ledger: BTreeMap<(String, String, String), BTreeMap<&'static str, i64>>,
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn naive(text: &str, strict: bool, by_metadata: bool) -> Naive {
    let rubric = Rubric::load(&Assets::embedded(), "qwen-image-bench").unwrap();
    let mut naive = Naive::default();
    for line in text.lines() {
        let Value::Object(members) = json::parse(line).unwrap().value else { panic!("no object") };
        let get = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, node)| &node.value);
        let Some(Value::Int(id)) = get("ID") else { panic!("no ID") };
        let Some(Value::String(dims)) = get("dims_en") else { panic!("no dims_en") };
        let listed: BTreeSet<Cell> = metadata::facets(dims, &rubric, &mut Notes::default()).into_keys().collect();
        let active: BTreeSet<&str> = listed.iter().map(|(pillar, _, _)| pillar.as_str()).collect();
        for (key, node) in &members {
            let Some((prefix, name)) = key.split_once("_response_") else { continue };
            let (model, lang) = name.strip_suffix("_en").map_or((name, "cn"), |base| (base, "en"));
            let pillar = rubric.pillars.iter().find(|pillar| pillar.prefix == prefix).unwrap();
            let expected: BTreeSet<Cell> = if by_metadata {
                listed.iter().filter(|(name, _, _)| *name == pillar.name).cloned().collect()
            } else if active.contains(pillar.name.as_str()) {
                let facets = rubric.facets.iter().filter(|facet| facet.pillar == pillar.name);
                facets.map(|facet| (facet.pillar.clone(), facet.capability.clone(), facet.facet.clone())).collect()
            } else {
                BTreeSet::new()
            };
            let text = match &node.value {
                Value::String(text) => Some(text.as_ref()),
                _ => None,
            };
            let read = reply::read(text, pillar);
            let mut count = |cell: &Cell, what: &'static str| {
                let path = format!("{} / {} / {}", cell.0, cell.1, cell.2);
                *naive.ledger.entry((model.into(), lang.into(), path)).or_default().entry(what).or_default() += 1;
            };
            let mut seen = BTreeSet::new();
            let outcome = if strict { read.strict.outcome } else { read.official.outcome };
            for cell in &expected {
                count(cell, "expected");
                if outcome == Outcome::ParseFailed {
                    count(cell, "parse_failed");
                }
            }
            for entry in &read.entries {
                let Some(side) = (if strict { &entry.strict } else { &entry.official }) else { continue };
                let cell: Cell = (pillar.name.clone(), side.capability.to_string(), side.facet.to_string());
                let Some((state, value)) = side.judged else {
                    count(&cell, "duplicate");
                    continue;
                };
                let is_expected = expected.contains(&cell);
                if is_expected {
                    seen.insert(cell.clone());
                }
                count(
                    &cell,
                    match (is_expected, entry.in_rubric) {
                        (true, _) => state.name(),
                        (false, true) => "unexpected",
                        (false, false) => "unknown",
                    },
                );
                let scores = state == State::Ok && (!strict || entry.in_rubric) && (!by_metadata || is_expected);
                if scores {
                    let points = [0.0, 60.0, 100.0][usize::try_from(value.unwrap()).unwrap()];
                    let image = naive
                        .scores
                        .entry((model.into(), lang.into()))
                        .or_default()
                        .entry(id.parse().unwrap())
                        .or_default();
                    image.entry(cell.0).or_default().entry(cell.1).or_default().push(points);
                }
            }
            if outcome != Outcome::ParseFailed {
                expected.difference(&seen).for_each(|cell| count(cell, "missing"));
            }
        }
    }
    naive
}

#[track_caller]
fn close(found: &Json, expected: Option<f64>, what: &str) {
    match (found.as_f64(), expected) {
        (Some(found), Some(expected)) => assert!((found - expected).abs() < 1e-9, "{what}: {found} against {expected}"),
        (None, None) => {}
        other => panic!("{what}: {other:?}"),
    }
}

fn compare(work: &Workdir, target: &str, naive: &Naive) {
    let text = |row: &Json, name: &str| row[name].as_str().unwrap().to_owned();
    let board = work.json(&["show", target]);
    assert_eq!(board.as_array().unwrap().len(), naive.scores.len());
    for row in board.as_array().unwrap() {
        let images = &naive.scores[&(text(row, "model"), text(row, "lang"))];
        let pillars_of = |image: &Image| -> Vec<(String, f64)> {
            let of = |capabilities: &BTreeMap<String, Vec<f64>>| {
                mean(&capabilities.values().map(|v| mean(v)).collect::<Vec<_>>())
            };
            image.iter().map(|(pillar, capabilities)| (pillar.clone(), of(capabilities))).collect()
        };
        let overall: Vec<f64> = images
            .values()
            .map(|image| mean(&pillars_of(image).iter().map(|(_, score)| *score).collect::<Vec<_>>()))
            .collect();
        close(&row["overall"], Some(mean(&overall)), "overall");
        assert_eq!(row["n"].as_i64(), i64::try_from(overall.len()).ok());
        for (column, pillar) in [
            ("quality", "Quality"),
            ("aesthetics", "Aesthetics"),
            ("alignment", "Alignment"),
            ("creative_generation", "Creative Generation"),
            ("real_world_fidelity", "Real-world Fidelity"),
        ] {
            let scores: Vec<f64> = images
                .values()
                .flat_map(pillars_of)
                .filter(|(name, _)| name == pillar)
                .map(|(_, score)| score)
                .collect();
            close(&row[column], (!scores.is_empty()).then(|| mean(&scores)), column);
        }
    }
    let rows = work.json(&["show", target, "by_capability"]);
    for row in rows.as_array().unwrap() {
        let images = &naive.scores[&(text(row, "model"), text(row, "lang"))];
        let scores: Vec<f64> = images
            .values()
            .filter_map(|image| image.get(&text(row, "pillar"))?.get(&text(row, "capability")))
            .map(|v| mean(v))
            .collect();
        close(&row["score"], Some(mean(&scores)), "by_capability");
        assert_eq!(row["n"].as_i64(), i64::try_from(scores.len()).ok());
    }
    let ledger = work.json(&["show", target, "ledger"]);
    let mut rows = 0;
    for row in ledger.as_array().unwrap() {
        let prefix = text(row, "item");
        let mut expected: BTreeMap<&str, i64> = BTreeMap::new();
        for ((model, lang, path), counts) in &naive.ledger {
            let inside = match row["level"].as_str().unwrap() {
                "all" => true,
                "facet" => *path == prefix,
                _ => path.starts_with(&format!("{prefix} / ")),
            };
            if inside && *model == text(row, "model") && *lang == text(row, "lang") {
                for (state, count) in counts {
                    *expected.entry(*state).or_default() += count;
                }
            }
        }
        for state in
            ["expected", "ok", "na", "missing", "invalid", "parse_failed", "unexpected", "unknown", "duplicate"]
        {
            let count = expected.get(state).copied().unwrap_or(0);
            assert_eq!(row[state].as_i64(), Some(count), "{state} of {row}");
        }
        rows += 1;
    }
    assert!(rows > 100, "{rows} rows");
}

#[test]
fn scores_and_ledger_agree_with_plain_loops() {
    let work = Workdir::new();
    work.run(&[
        "synth",
        "qwen-image-bench",
        "--rows",
        "60",
        "--models",
        "3",
        "--en",
        "--noise",
        "0.3",
        "--think-chars",
        "30",
        "-o",
        "r.jsonl",
    ])
    .expect(0);
    let text = std::fs::read_to_string(work.path("r.jsonl")).unwrap();
    work.run(&["ingest", "qwen-image-bench", "r.jsonl"]).expect(0);
    for (protocol, strict) in [("official", false), ("strict", true)] {
        for (facets, by_metadata) in [("judged", false), ("metadata", true)] {
            let ran = work.run(&["score", "qwen-image-bench", "--protocol", protocol, "--facets", facets]).expect(0);
            let id = ran.stderr.lines().find_map(|line| line.strip_prefix("snapshot ")).unwrap();
            compare(&work, &format!("qwen-image-bench@{}", &id[..32]), &naive(&text, strict, by_metadata));
        }
    }
}

#[test]
fn clean_data_has_the_same_digits_under_both_readings() {
    let work = Workdir::new();
    work.run(&["synth", "qwen-image-bench", "--rows", "40", "--models", "3", "--think-chars", "30", "-o", "r.jsonl"])
        .expect(0);
    let ran = work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    assert!(ran.stderr.contains("readings differ in 0 of "), "{}", ran.stderr);
    work.run(&["score", "qwen-image-bench", "--protocol", "strict"]).expect(0);
    for table in ["leaderboard", "by_pillar", "by_capability", "by_facet", "prompt_scores", "ledger"] {
        let official = work.run(&["show", "qwen-image-bench", table, "--format", "csv"]).expect(0).stdout;
        let strict = work.run(&["show", "qwen-image-bench@strict", table, "--format", "csv"]).expect(0).stdout;
        assert_eq!(official, strict, "{table}");
        assert!(official.lines().count() > 3);
    }
}

/// The short way for plain replies gives what both readings give, on clean and noisy replies and on ones made to be nearly plain.
#[test]
fn plain_replies_are_read_as_any_other() {
    let work = Workdir::new();
    let args = ["synth", "qwen-image-bench", "--rows", "60", "--models", "4", "--noise", "0.4", "--think-chars", "20"];
    work.run(&[&args[..], &["-o", "r.jsonl"]].concat()).expect(0);
    let rubric = Rubric::load(&Assets::embedded(), "qwen-image-bench").unwrap();
    let mut replies: Vec<(String, usize)> = Vec::new();
    for line in std::fs::read_to_string(work.path("r.jsonl")).unwrap().lines() {
        let Value::Object(members) = json::parse(line).unwrap().value else { panic!("no object") };
        for (key, node) in members {
            let Some((prefix, _)) = key.split_once("_response_") else { continue };
            let pillar = rubric.pillars.iter().position(|pillar| pillar.prefix == prefix).unwrap();
            if let Value::String(text) = node.value {
                replies.push((text.into_owned(), pillar));
            }
        }
    }
    assert!(replies.len() > 800);
    for nearly in [
        "{}",
        r#"{"Detail": {}}"#,
        r#"{"Detail": {"Noise": {"score": 1}}, "Detail": {"Edge Clarity": {"score": 2}}}"#,
        r#"{"Detail": {"Noise": {"score": 1}}, "Realism": {"Noise": {"score": 2}}}"#,
        r#"{"Detail": {"Noise": {"score": 1}, "Noise": {"score": 1}}}"#,
        r#"{"Realism": {"Noise": {"score": 1}}}"#,
        r#"{"Detail": {"Noise": {"score": 1}, "score": {"score": 1}}}"#,
        r#"{"Noise": {"score": 1}, "Edge Clarity": {"score": 2}}"#,
        r#"{"Feature Mapping": {"Noise": {"score": 1}}}"#,
        r#"{"Detail": {"Noise": {"score": "n/a"}, "Edge Clarity": {"score": "N/A"}}}"#,
        r#"{"Detail": {"Noise": {"score": 3}, "Naturalness": {"Score": 1}}, "x": 1}"#,
    ] {
        replies.extend((0..rubric.pillars.len()).map(|pillar| (nearly.to_owned(), pillar)));
    }
    for (text, pillar) in &replies {
        let pillar = &rubric.pillars[*pillar];
        assert_eq!(reply::read(Some(text), pillar), reply::read_long(Some(text), pillar), "{text}");
    }
}
