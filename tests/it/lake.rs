//! Sources, idempotence, replacement, duplicates, kills and concurrency.

use std::io::Write;
use std::time::Duration;

use serde_json::json;

use super::util::{Workdir, line, tree};

const DIMS: &str = "Quality / Realism / Physical Logic";

fn reply(score: u8) -> serde_json::Value {
    json!(format!(r#"{{"Realism":{{"Physical Logic":{{"score":{score}}}}}}}"#))
}

fn one(id: u32, score: u8) -> String {
    line(id, DIMS, &[("quality_response_m", reply(score))])
}

/// The published state: everything but run records, locks and leftovers.
fn published(work: &Workdir) -> Vec<(String, Vec<u8>)> {
    let mut files = tree(&work.path("lake"));
    files.retain(|(name, _)| {
        !name.starts_with("runs/")
            && !name.starts_with("staging/")
            && !name.ends_with(".lock")
            && !name.ends_with(".readers")
    });
    files
}

#[test]
fn files_directories_globs_and_compression() {
    let work = Workdir::new();
    for id in 1..=6 {
        work.write(&format!("in/{id}.jsonl"), one(id, 2));
    }
    // Two members in one gzip file, and zstd.
    let mut packed = Vec::new();
    for id in [7, 8] {
        let mut encoder = flate2::write::GzEncoder::new(&mut packed, flate2::Compression::default());
        encoder.write_all(one(id, 2).as_bytes()).unwrap();
        encoder.finish().unwrap();
    }
    work.write("in/sub/x.jsonl.gz", packed);
    work.write("in/sub/y.ndjson.zst", zstd::encode_all(one(9, 2).as_bytes(), 1).unwrap());
    work.write("in/readme.txt", "not data");
    work.write("in/.hidden.jsonl", one(10, 2));
    let count = |work: &Workdir| work.row("SELECT count(*) AS n FROM qwen_image_bench.prompts")["n"].as_i64().unwrap();
    work.run(&["ingest", "qwen-image-bench", "in/[1-2].jsonl"]).expect(0);
    assert_eq!(count(&work), 2);
    work.run(&["ingest", "qwen-image-bench", "in/3.jsonl", "in/3.jsonl"]).expect(0);
    assert_eq!(count(&work), 3);
    let ran = work.run(&["ingest", "qwen-image-bench", "in", "-v"]).expect(0);
    assert!(ran.stderr.contains("readme.txt"), "{}", ran.stderr);
    assert_eq!(count(&work), 9);
}

#[test]
fn the_same_content_changes_nothing() {
    let work = Workdir::new();
    work.write("r.jsonl", one(1, 2) + &one(2, 0));
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    let before = published(&work);
    let ran = work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    assert!(ran.stderr.contains("unchanged"), "{}", ran.stderr);
    assert_eq!(published(&work), before);
    // Under another name only the name is new.
    std::fs::copy(work.path("r.jsonl"), work.path("copy.jsonl")).unwrap();
    let id = work.latest("official");
    work.run(&["run", "qwen-image-bench", "copy.jsonl"]).expect(0);
    assert_eq!(work.latest("official"), id);
    let parts = |files: &[(String, Vec<u8>)]| {
        files.iter().filter(|(name, _)| name.ends_with(".parquet")).cloned().collect::<Vec<_>>()
    };
    assert_eq!(parts(&published(&work)), parts(&before));
}

#[test]
fn a_changed_file_replaces_its_own_parts() {
    let work = Workdir::new();
    work.write("a.jsonl", one(1, 2));
    work.write("b.jsonl", one(2, 2));
    work.run(&["ingest", "qwen-image-bench", "a.jsonl", "b.jsonl"]).expect(0);
    work.write("a.jsonl", one(1, 0) + &one(3, 0));
    let ran = work.run(&["ingest", "qwen-image-bench", "a.jsonl"]).expect(0);
    assert!(ran.stderr.contains("replaced"), "{}", ran.stderr);
    let rows = work.sql("SELECT prompt_id, value FROM qwen_image_bench.judgments ORDER BY prompt_id");
    let rows: Vec<_> =
        rows.iter().map(|row| (row["prompt_id"].as_i64().unwrap(), row["value"].as_i64().unwrap())).collect();
    assert_eq!(rows, [(1, 0), (2, 2), (3, 0)]);
    let parts = published(&work).iter().filter(|(name, _)| name.contains("/judgments/")).count();
    assert_eq!(parts, 2, "the old part is gone");
    assert!(tree(&work.path("lake/staging")).is_empty(), "nothing is left in staging");
}

#[test]
fn equal_replies_collapse_and_are_counted() {
    // B22 and B23: one prompt twice, judged twice.
    let work = Workdir::new();
    work.write("a.jsonl", one(5, 2) + &one(5, 2));
    let ran = work.run(&["run", "qwen-image-bench", "a.jsonl"]).expect(0);
    assert!(ran.stderr.contains("1 duplicate record set aside in the lake: same_text"), "{}", ran.stderr);
    assert_eq!(work.row("SELECT count(*) AS n FROM qwen_image_bench.responses")["n"], 2, "every reply stays");
    assert_eq!(work.row("SELECT count(*) AS n FROM qwen_image_bench.judgments")["n"], 1);
    assert_eq!(work.row("SELECT count(*) AS n FROM qwen_image_bench.prompt_facets")["n"], 1);
    assert_eq!(work.row("SELECT overall, n FROM qwen_image_bench.leaderboard"), json!({ "overall": 100.0, "n": 1 }));
    let row = work.row("SELECT expected, ok, missing, duplicate FROM qwen_image_bench.ledger WHERE level = 'pillar' AND item = 'Quality'");
    assert_eq!(row, json!({ "expected": 6, "ok": 1, "missing": 5, "duplicate": 6 }));
}

#[test]
fn a_readable_reply_beats_an_unreadable_one() {
    let work = Workdir::new();
    let failed = line(1, DIMS, &[("quality_response_m", json!("cannot"))]);
    work.write("a.jsonl", failed + &one(1, 1));
    work.run(&["run", "qwen-image-bench", "a.jsonl"]).expect(0);
    assert_eq!(work.row("SELECT overall, n FROM qwen_image_bench.leaderboard"), json!({ "overall": 60.0, "n": 1 }));
    assert_eq!(work.row("SELECT reason FROM qwen_image_bench.set_aside")["reason"], "less_readable");
    let row = work.row(
        "SELECT ok, parse_failed, duplicate FROM qwen_image_bench.ledger WHERE level = 'pillar' AND item = 'Quality'",
    );
    assert_eq!(row, json!({ "ok": 1, "parse_failed": 0, "duplicate": 6 }));
}

#[test]
fn contradicting_replies_are_an_error_that_names_both_places() {
    let work = Workdir::new();
    work.write("a.jsonl", one(1, 2));
    work.write("b.jsonl", "\n\n".to_owned() + &one(1, 0));
    work.run(&["run", "qwen-image-bench", "a.jsonl"]).expect(0);
    let before = published(&work);
    let ran = work.run(&["ingest", "qwen-image-bench", "b.jsonl"]).expect(1);
    for part in ["two different records", "model=m", "prompt_id=1", "a.jsonl:1", "b.jsonl:3", "--supersede"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    assert_eq!(published(&work), before, "nothing was published");

    // Under reject the greatest digest wins, whatever the order.
    let ran = work.run(&["run", "qwen-image-bench", "b.jsonl", "--on-error", "reject"]).expect(0);
    assert!(ran.stderr.contains("different_text"), "{}", ran.stderr);
    let winner = work.row("SELECT overall FROM qwen_image_bench.leaderboard");
    let other = Workdir::new();
    other.write("a.jsonl", one(1, 0) + &one(1, 2));
    other.run(&["run", "qwen-image-bench", "a.jsonl", "--on-error", "reject"]).expect(0);
    assert_eq!(other.row("SELECT overall FROM qwen_image_bench.leaderboard"), winner);
}

#[test]
fn supersede_lets_the_new_file_win() {
    let work = Workdir::new();
    for (name, score) in [("a.jsonl", 2), ("b.jsonl", 0), ("c.jsonl", 1)] {
        work.write(name, one(1, score));
        work.run(&["run", "qwen-image-bench", name, "--supersede"]).expect(0);
        let expected = [0.0, 60.0, 100.0][usize::from(score)];
        assert_eq!(work.row("SELECT overall FROM qwen_image_bench.leaderboard")["overall"], json!(expected));
    }
    assert_eq!(work.row("SELECT count(*) AS n FROM qwen_image_bench.set_aside WHERE reason = 'superseded'")["n"], 2);
}

#[test]
fn two_judges_and_two_revisions_are_entries_of_their_own() {
    // G07
    let work = Workdir::new();
    for (name, score, judge, revision) in [("a", 2, "j1", ""), ("b", 0, "j2@7", ""), ("c", 1, "j1", "r2")] {
        let file = format!("{name}.jsonl");
        work.write(&file, one(1, score));
        work.run(&["ingest", "qwen-image-bench", &file, "--judge", judge, "--model-revision", revision]).expect(0);
    }
    let ran = work.run(&["score", "qwen-image-bench"]).expect(0);
    assert!(ran.stderr.contains("2 judges stand in one table; each is ranked apart"), "{}", ran.stderr);
    let rows = work.sql("SELECT rank, judge, model_revision, overall FROM qwen_image_bench.leaderboard");
    assert_eq!(
        rows,
        [
            json!({ "rank": 1, "judge": "j1", "model_revision": "", "overall": 100.0 }),
            json!({ "rank": 2, "judge": "j1", "model_revision": "r2", "overall": 60.0 }),
            json!({ "rank": 1, "judge": "j2@7", "model_revision": "", "overall": 0.0 }),
        ]
    );
}

#[test]
fn contradicting_metadata_is_always_an_error() {
    let work = Workdir::new();
    work.write("m1.json", format!(r#"[{{"ID": 5, "dims_en": "{DIMS}; Quality / Detail / Noise"}}]"#));
    // The same facets in another order are the same.
    work.write("m2.json", format!(r#"[{{"ID": 5, "dims_en": "Quality / Detail / Noise; {DIMS}"}}]"#));
    work.write("m3.json", format!(r#"[{{"ID": 5, "dims_en": "{DIMS}"}}]"#));
    work.run(&["ingest", "qwen-image-bench", "m1.json", "m2.json"]).expect(0);
    let before = published(&work);
    let ran = work.run(&["ingest", "qwen-image-bench", "m3.json", "--on-error", "reject"]).expect(1);
    assert!(ran.stderr.contains("prompt 5 has different facets"), "{}", ran.stderr);
    assert_eq!(published(&work), before);
}

#[test]
fn only_inputs_scores_what_was_given() {
    let work = Workdir::new();
    work.write("a.jsonl", one(1, 2));
    work.write("b.jsonl", one(2, 0));
    work.run(&["run", "qwen-image-bench", "a.jsonl"]).expect(0);
    let latest = work.latest("official");
    let ran = work.run(&["run", "qwen-image-bench", "b.jsonl", "--only-inputs", "--format", "csv"]).expect(0);
    assert!(ran.stdout.lines().nth(1).unwrap().starts_with("1,m,m,cn,0.0,"), "{}", ran.stdout);
    assert_eq!(work.latest("official"), latest);
    let ran = work.run(&["run", "qwen-image-bench", "b.jsonl", "--format", "csv"]).expect(0);
    assert!(ran.stderr.contains("scoring the whole lake: 1 more source than given"), "{}", ran.stderr);
    assert!(ran.stdout.lines().nth(1).unwrap().starts_with("1,m,m,cn,50.0,"), "{}", ran.stdout);
}

#[test]
fn without_raw_text_the_scores_are_the_same() {
    let work = Workdir::new();
    work.write("a.jsonl", one(1, 2));
    work.run(&["run", "qwen-image-bench", "a.jsonl"]).expect(0);
    let id = work.latest("official");
    work.run(&["run", "qwen-image-bench", "a.jsonl", "--no-raw"]).expect(0);
    assert_eq!(work.latest("official"), id);
    let row = work.row("SELECT text, text_sha256 IS NOT NULL AS digest FROM qwen_image_bench.responses");
    assert_eq!(row, json!({ "text": null, "digest": true }));
}

/// A file of several segments, so that there is something to kill in the middle.
fn large(work: &Workdir) {
    work.run(&[
        "synth",
        "qwen-image-bench",
        "--rows",
        "150",
        "--models",
        "18",
        "--think-chars",
        "3000",
        "-o",
        "big.jsonl",
    ])
    .expect(0);
    assert!(std::fs::metadata(work.path("big.jsonl")).unwrap().len() > 24 << 20, "at least three segments");
}

#[test]
fn a_killed_run_leaves_the_old_state_and_its_finished_parts() {
    let work = Workdir::new();
    large(&work);
    work.write("a.jsonl", one(100_000, 2));
    work.run(&["run", "qwen-image-bench", "a.jsonl"]).expect(0);
    let before = published(&work);
    let mut child = work.command(&["ingest", "qwen-image-bench", "big.jsonl", "--threads", "1"]).spawn().unwrap();
    let finished = || {
        let staging = work.path("lake/staging");
        if !staging.exists() {
            return Vec::new();
        }
        tree(&staging).into_iter().filter(|(name, _)| name.ends_with(".json")).collect::<Vec<_>>()
    };
    let mut waited = 0;
    while finished().is_empty() {
        std::thread::sleep(Duration::from_millis(5));
        waited += 1;
        assert!(waited < 12_000, "no finished segment within a minute");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(published(&work), before, "the old state is whole");
    let kept = finished();
    assert!(!kept.is_empty());
    let stamp = |name: &str| std::fs::metadata(work.path("lake/staging").join(name)).unwrap().modified().unwrap();
    let staged = tree(&work.path("lake/staging"));
    let segment = kept[0].0.trim_end_matches(".json").rsplit('/').next().unwrap().to_owned();
    let part = &staged
        .iter()
        .find(|(name, _)| name.contains("judgments-") && name.ends_with(&format!("{segment}.parquet")))
        .unwrap()
        .0;
    let written = stamp(part);

    // The part that is published is the one that was finished, not one written again.
    work.run(&["ingest", "qwen-image-bench", "big.jsonl"]).expect(0);
    let part_name = part.rsplit("judgments-").next().unwrap();
    let placed = work.path("lake/datasets/qwen-image-bench/judgments").join(part_name);
    assert_eq!(std::fs::metadata(&placed).unwrap().modified().unwrap(), written, "the finished part was taken over");

    // The dead run's record says so.
    let statuses: Vec<_> = tree(&work.path("lake/runs"))
        .iter()
        .map(|(_, text)| {
            serde_json::from_slice::<serde_json::Value>(text).unwrap()["status"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(statuses, ["complete", "interrupted", "complete"]);
    assert_eq!(work.row("SELECT count(*) AS n FROM qwen_image_bench.prompts")["n"], 151);
}

#[cfg(unix)]
#[test]
fn an_interrupt_is_recorded() {
    // F12
    let work = Workdir::new();
    large(&work);
    let mut child = work.command(&["run", "qwen-image-bench", "big.jsonl", "--threads", "1"]).spawn().unwrap();
    let running = || work.path("lake/staging").exists() && !tree(&work.path("lake/staging")).is_empty();
    while !running() {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it could be interrupted");
        std::thread::sleep(Duration::from_millis(5));
    }
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let records = tree(&work.path("lake/runs"));
    let record: serde_json::Value = serde_json::from_slice(&records[0].1).unwrap();
    assert_eq!(record["status"], "interrupted");
    work.run(&["run", "qwen-image-bench", "big.jsonl"]).expect(0);
}

#[test]
fn two_runs_at_once_both_publish() {
    // G01
    let work = Workdir::new();
    work.run(&["synth", "qwen-image-bench", "--rows", "20", "--models", "3", "--think-chars", "20", "-o", "a.jsonl"])
        .expect(0);
    work.write("b.jsonl", one(500, 2));
    work.run(&["ingest", "qwen-image-bench", "b.jsonl"]).expect(0);
    let mut children: Vec<_> = ["a.jsonl", "b.jsonl", "a.jsonl"]
        .iter()
        .map(|file| {
            work.command(&["run", "qwen-image-bench", file, "-q"]).stdout(std::process::Stdio::null()).spawn().unwrap()
        })
        .collect();
    for child in &mut children {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    assert_eq!(work.row("SELECT count(DISTINCT source) AS n FROM qwen_image_bench.responses")["n"], 2);
    work.run(&["snapshot", "verify"]).expect(0);
    work.run(&["score", "qwen-image-bench"]).expect(0);
    assert_eq!(work.row("SELECT sum(n) AS n FROM qwen_image_bench.leaderboard")["n"], 61);
}
