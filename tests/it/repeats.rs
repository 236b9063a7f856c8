//! Faults that were found once, each as a test of its kind: repeated records, cut-short publishing, shared content.

use serde_json::json;

use super::util::{Workdir, line, tree};

const DIMS: &str = "Quality / Realism / Physical Logic";

fn reply(score: u8) -> serde_json::Value {
    json!(format!(r#"{{"Realism":{{"Physical Logic":{{"score":{score}}}}}}}"#))
}

fn one(id: u32, score: u8) -> String {
    line(id, DIMS, &[("quality_response_m", reply(score))])
}

fn overall(work: &Workdir) -> serde_json::Value {
    work.row("SELECT overall, n FROM qwen_image_bench.leaderboard")
}

/// The declared order of parts must be their order: the engine merges and groups by it.
#[test]
fn repeated_lines_of_several_facets_count_once_at_any_parallelism() {
    let work = Workdir::new();
    let text =
        r#"{"Detail":{"Noise":{"score":1}},"Realism":{"Physical Logic":{"score":2},"Material Texture":{"score":0}}}"#;
    let mut lines = String::new();
    for id in (1..=700).rev() {
        let dims = format!("{DIMS}; Quality / Detail / Noise; Aesthetics / Lighting / Lighting & Atmosphere");
        let row = line(id, &dims, &[("quality_response_a", json!(text)), ("quality_response_b", json!(text))]);
        lines += &(row.clone() + &row);
    }
    work.write("r.jsonl", lines);
    let mut seen = Vec::new();
    for (lake, threads, batch) in [("l1", "1", "8192"), ("l2", "2", "100"), ("l3", "1", "3"), ("l4", "8", "17")] {
        let base = ["--lake", lake, "--threads", threads, "--batch-size", batch];
        work.run(&[&["run", "qwen-image-bench", "r.jsonl", "-q"][..], &base].concat()).expect(0);
        let counts = "SELECT (SELECT count(*) FROM qwen_image_bench.prompt_facets) AS facets,
            (SELECT count(*) FROM qwen_image_bench.judgments) AS judgments,
            (SELECT count(*) FROM (SELECT DISTINCT prompt_id, facet FROM qwen_image_bench.prompt_facets)) AS pairs";
        let row = work.json(&[&["sql", counts][..], &base].concat());
        assert_eq!(row[0], json!({ "facets": 2100, "judgments": 4200, "pairs": 2100 }), "{lake}");
        let ordered = work.json(&[
            &["sql", "SELECT prompt_id, facet FROM qwen_image_bench_parts.prompt_facets ORDER BY prompt_id, pillar, capability, facet, source, source_line"][..],
            &base,
        ].concat());
        let keys: Vec<i64> = ordered.as_array().unwrap().iter().map(|row| row["prompt_id"].as_i64().unwrap()).collect();
        assert!(keys.is_sorted() && keys.len() == 4200, "{lake}: ORDER BY is obeyed");
        let id =
            std::fs::read_to_string(work.path(&format!("{lake}/snapshots/qwen-image-bench/LATEST-official"))).unwrap();
        seen.push(id);
    }
    assert!(seen.iter().all(|id| *id == seen[0]), "{seen:?}");
}

/// A run killed between placing parts and swapping the manifest leaves links to its staged parts.
#[test]
fn links_left_by_a_killed_publishing_do_no_harm() {
    let work = Workdir::new();
    work.write("m1.json", format!(r#"[{{"ID": 1, "dims_en": "{DIMS}"}}]"#));
    work.run(&["ingest", "qwen-image-bench", "m1.json"]).expect(0);
    // Metadata that contradict keep this source staged.
    let other = "Quality / Detail / Noise";
    work.write("r.jsonl", line(1, other, &[("quality_response_m", reply(2))]));
    work.run(&["ingest", "qwen-image-bench", "r.jsonl"]).expect(1);
    let staged = tree(&work.path("lake/staging"));
    let mut links = 0;
    for (name, _) in staged.iter().filter(|(name, _)| name.ends_with(".parquet")) {
        let (table, file) = name.rsplit('/').next().unwrap().split_once('-').unwrap();
        let to = work.path("lake/datasets/qwen-image-bench").join(table);
        std::fs::create_dir_all(&to).unwrap();
        std::fs::hard_link(work.path("lake/staging").join(name), to.join(file)).unwrap();
        links += 1;
    }
    assert_eq!(links, 4, "a part of each table");
    // The right metadata take the contradiction away.
    work.write("m1.json", format!(r#"[{{"ID": 1, "dims_en": "{other}"}}]"#));
    work.run(&["run", "qwen-image-bench", "m1.json", "r.jsonl"]).expect(0);
    assert_eq!(overall(&work), json!({ "overall": 100.0, "n": 1 }));
    let parts = tree(&work.path("lake/datasets"));
    assert!(parts.iter().filter(|(name, _)| name.ends_with(".parquet")).all(|(_, bytes)| bytes.len() > 100));
}

#[test]
fn a_missing_or_emptied_part_is_no_smaller_table() {
    let work = Workdir::new();
    work.write("a.jsonl", one(1, 2));
    work.write("b.jsonl", one(2, 0));
    work.run(&["run", "qwen-image-bench", "a.jsonl", "b.jsonl"]).expect(0);
    let (name, bytes) =
        tree(&work.path("lake/datasets")).into_iter().find(|(name, _)| name.contains("/judgments/")).unwrap();
    let path = work.path("lake/datasets").join(&name);
    for damage in [None, Some(&bytes[..0]), Some(&bytes[..bytes.len() - 1])] {
        match damage {
            None => std::fs::remove_file(&path).unwrap(),
            Some(bytes) => std::fs::write(&path, bytes).unwrap(),
        }
        for args in [&["score", "qwen-image-bench"][..], &["sql", "SELECT count(*) FROM qwen_image_bench.judgments"]] {
            let ran = work.run(args).expect(1);
            assert!(ran.stderr.contains("a part of the lake is not as it was published"), "{}", ran.stderr);
            assert!(ran.stderr.contains(&name), "{}", ran.stderr);
        }
    }
    // A bit of the right size is found by decoding.
    let mut flipped = bytes.clone();
    let middle = bytes.len() / 2;
    flipped[4..middle].fill(0xff);
    std::fs::write(&path, flipped).unwrap();
    let ran = work.run(&["score", "qwen-image-bench"]).expect(1);
    assert!(ran.stderr.contains("corrupt") && ran.stderr.contains(&name), "{}", ran.stderr);
}

#[test]
fn only_inputs_settles_duplicates_among_them_alone() {
    let work = Workdir::new();
    work.write("x.jsonl", one(1, 2) + &one(2, 2));
    work.write("y.jsonl", one(1, 2) + &one(2, 2) + &one(3, 0));
    work.run(&["ingest", "qwen-image-bench", "x.jsonl"]).expect(0);
    let ran = work.run(&["run", "qwen-image-bench", "y.jsonl", "--only-inputs", "--format", "json"]).expect(0);
    let board: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&board[0]["n"], &board[0]["overall"]), (&json!(3), &json!(200.0 / 3.0)));
    let alone = Workdir::new();
    alone.write("y.jsonl", std::fs::read(work.path("y.jsonl")).unwrap());
    alone.run(&["run", "qwen-image-bench", "y.jsonl"]).expect(0);
    assert!(ran.stderr.contains(&alone.latest("official")), "the snapshot of these inputs alone");
    work.run(&["score", "qwen-image-bench"]).expect(0);
    assert_eq!(overall(&work)["n"], 3);
}

#[test]
fn fail_does_not_take_over_what_reject_kept_aside() {
    let work = Workdir::new();
    work.write("m.json", format!(r#"[{{"ID": 1, "dims_en": "{DIMS}"}}]"#));
    work.run(&["ingest", "qwen-image-bench", "m.json"]).expect(0);
    work.write("r.jsonl", line(1, "Quality / Detail / Noise", &[("quality_response_m", reply(2))]) + "oops\n");
    let ran = work.run(&["ingest", "qwen-image-bench", "r.jsonl", "--on-error", "reject"]).expect(1);
    assert!(ran.stderr.contains("different facets"), "{}", ran.stderr);
    assert!(!tree(&work.path("lake/staging")).is_empty(), "the segment is finished and staged");
    let ran = work.run(&["ingest", "qwen-image-bench", "r.jsonl"]).expect(1);
    assert!(ran.stderr.contains("line: 2"), "{}", ran.stderr);
}

#[test]
fn the_exit_code_is_that_of_these_inputs() {
    let work = Workdir::new();
    work.write("r.jsonl", one(1, 2));
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    let id = work.latest("official");
    // The same result, now from a file with a bad line.
    work.write("r.jsonl", one(1, 2) + "oops\n");
    let ran = work.run(&["run", "qwen-image-bench", "r.jsonl", "--on-error", "reject"]).expect(3);
    assert!(ran.stderr.contains("(official, partial), the same as one that was there"), "{}", ran.stderr);
    assert_eq!(work.latest("official"), id);
    work.run(&["score", "qwen-image-bench"]).expect(3);
    work.run(&["ingest", "qwen-image-bench", "r.jsonl", "--on-error", "reject"]).expect(3);
    work.write("r.jsonl", one(1, 2));
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
}

#[test]
fn content_in_two_files_stays_while_one_of_them_has_it() {
    let work = Workdir::new();
    work.write("a.jsonl", one(1, 2));
    std::fs::copy(work.path("a.jsonl"), work.path("copy.jsonl")).unwrap();
    work.run(&["ingest", "qwen-image-bench", "a.jsonl"]).expect(0);
    let ran = work.run(&["ingest", "qwen-image-bench", "copy.jsonl"]).expect(0);
    assert!(ran.stderr.contains("the same content as"), "{}", ran.stderr);
    let ids = |work: &Workdir| -> Vec<i64> {
        let rows = work.sql("SELECT prompt_id FROM qwen_image_bench.judgments ORDER BY prompt_id");
        rows.iter().map(|row| row["prompt_id"].as_i64().unwrap()).collect()
    };
    // a.jsonl changes: the copy still has prompt 1.
    work.write("a.jsonl", one(2, 0));
    work.run(&["ingest", "qwen-image-bench", "a.jsonl"]).expect(0);
    assert_eq!(ids(&work), [1, 2]);
    // The copy now equals a.jsonl: nothing has prompt 1 any more.
    std::fs::copy(work.path("a.jsonl"), work.path("copy.jsonl")).unwrap();
    work.run(&["ingest", "qwen-image-bench", "copy.jsonl"]).expect(0);
    assert_eq!(ids(&work), [2]);
}

#[test]
fn supersede_works_for_content_that_is_known() {
    let work = Workdir::new();
    work.write("a.jsonl", one(1, 2));
    work.write("b.jsonl", one(1, 0));
    work.run(&["ingest", "qwen-image-bench", "a.jsonl"]).expect(0);
    work.run(&["run", "qwen-image-bench", "b.jsonl", "--supersede"]).expect(0);
    assert_eq!(overall(&work)["overall"], json!(0.0));
    work.run(&["run", "qwen-image-bench", "a.jsonl", "--supersede"]).expect(0);
    assert_eq!(overall(&work)["overall"], json!(100.0));
}

#[test]
fn escaped_keys_are_the_names_they_spell() {
    let work = Workdir::new();
    let reply = reply(2).to_string();
    let plain = format!(r#"{{"ID": 1, "dims_en": "{DIMS}", "可灵": "a.png", "quality_response_可灵": {reply}}}"#);
    let escaped = format!(
        r#"{{"ID": 2, "dims_en": "{DIMS}", "\u53ef\u7075": "b.png", "quality_response_\u53ef\u7075": {reply}}}"#
    );
    work.write("r.jsonl", format!("{plain}\n{escaped}\n"));
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    assert_eq!(work.sql("SELECT model, n FROM qwen_image_bench.leaderboard"), [json!({ "model": "可灵", "n": 2 })]);
    assert_eq!(work.row("SELECT count(image) AS n FROM qwen_image_bench.responses")["n"], 2);
}

#[test]
fn another_rubric_reads_the_source_again() {
    let work = Workdir::new();
    work.write("r.jsonl", line(1, DIMS, &[("quality_response_m", json!(r#"{"Realism":{"Physics":{"score":2}}}"#))]));
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    let aliases = "pillar,written,meant\nQuality,Physics,Physical Logic\n";
    work.write("mine/data/taxonomy/qwen-image-bench-aliases.csv", aliases);
    let ran = work.run(&["run", "qwen-image-bench", "r.jsonl", "--assets", "mine"]).expect(0);
    assert!(ran.stderr.contains("replaced"), "{}", ran.stderr);
    assert_eq!(work.row("SELECT facet FROM qwen_image_bench.judgments")["facet"], "Physical Logic");
}

#[test]
fn metadata_facets_need_metadata() {
    let work = Workdir::new();
    work.write("r.jsonl", format!("{{\"ID\": 1, \"quality_response_m\": {}}}\n", reply(2)));
    work.run(&["ingest", "qwen-image-bench", "r.jsonl"]).expect(0);
    let ran = work.run(&["score", "qwen-image-bench", "--facets", "metadata"]).expect(1);
    assert!(ran.stderr.contains("ingest bench_metadata.json"), "{}", ran.stderr);
    // A blank dims_en is none.
    work.write("r.jsonl", format!("{{\"ID\": 1, \"dims_en\": \" \", \"quality_response_m\": {}}}\n", reply(2)));
    let ran = work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    assert!(ran.stderr.contains("no metadata in the lake"), "{}", ran.stderr);
}

#[test]
fn lakes_are_found_by_any_path() {
    let work = Workdir::new();
    work.write("r.jsonl", one(1, 2));
    std::fs::create_dir_all(work.path("sub dir [1]")).unwrap();
    for lake in ["sub dir [1]/../other lake", "./l%20x", "sub dir [1]/ü"] {
        work.run(&["run", "qwen-image-bench", "r.jsonl", "--lake", lake]).expect(0);
        let row = work.json(&["sql", "SELECT count(*) AS n FROM qwen_image_bench.judgments", "--lake", lake]);
        assert_eq!(row[0]["n"], 1, "{lake}");
    }
}

#[test]
fn one_broken_snapshot_leaves_the_others_in_use() {
    let work = Workdir::new();
    work.write("r.jsonl", one(1, 2));
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    work.write("lake/snapshots/qwen-image-bench/abandoned/manifest.json", "{");
    work.write("lake/runs/0-0-0.json", b"\xff\xfe{\"status\": \"running\"");
    work.run(&["show", "qwen-image-bench"]).expect(0);
    work.run(&["score", "qwen-image-bench"]).expect(0);
    let ran = work.run(&["snapshot", "ls"]).expect(0);
    assert!(ran.stderr.contains("abandoned"), "{}", ran.stderr);
    let ran = work.run(&["snapshot", "verify"]).expect(1);
    assert!(ran.stdout.contains("abandoned") && ran.stdout.contains(" ok"), "{}", ran.stdout);
}

#[cfg(unix)]
#[test]
fn inputs_that_may_not_be_read() {
    use std::os::unix::fs::symlink;
    let work = Workdir::new();
    work.write("in/a.jsonl", one(1, 2));
    // A link to itself, a link to its own folder, and a pipe.
    symlink("loop.jsonl", work.path("in/loop.jsonl")).unwrap();
    let ran = work.run(&["run", "qwen-image-bench", "in/a.jsonl", "in/loop.jsonl", "--on-error", "reject"]).expect(3);
    assert!(ran.stderr.contains("loop.jsonl"), "{}", ran.stderr);
    std::fs::remove_file(work.path("in/loop.jsonl")).unwrap();
    symlink(".", work.path("in/up")).unwrap();
    work.run(&["run", "qwen-image-bench", "in/a.jsonl", "in"]).expect(0);
    assert_eq!(overall(&work), json!({ "overall": 100.0, "n": 1 }));
    std::process::Command::new("mkfifo").arg(work.path("pipe.jsonl")).status().unwrap();
    let ran = work.run(&["run", "qwen-image-bench", "pipe.jsonl"]).expect(1);
    assert!(ran.stderr.contains("no regular file"), "{}", ran.stderr);
}

#[test]
fn several_records_on_one_physical_line_are_several() {
    let (lines, array) = (Workdir::new(), Workdir::new());
    let records = [one(1, 2), one(2, 2), one(1, 2)];
    lines.write("r.json", records.concat());
    array.write("r.json", format!("[{}]", records.map(|record| record.trim().to_owned()).join(",")));
    for work in [&lines, &array] {
        work.run(&["run", "qwen-image-bench", "r.json"]).expect(0);
        assert_eq!(overall(work), json!({ "overall": 100.0, "n": 2 }));
    }
    assert_eq!(lines.latest("official"), array.latest("official"));
    array.write("bad.json", "[{\"ID\": 1, \"dims_en\": \"x\"}, 7]");
    let ran = array.run(&["ingest", "qwen-image-bench", "bad.json"]).expect(1);
    assert!(ran.stderr.contains("element: 2"), "{}", ran.stderr);
}

#[test]
fn a_renamed_file_and_a_new_one_under_its_old_name() {
    let work = Workdir::new();
    work.write("t/a.jsonl", one(1, 2));
    work.run(&["ingest", "qwen-image-bench", "t"]).expect(0);
    std::fs::rename(work.path("t/a.jsonl"), work.path("t/b.jsonl")).unwrap();
    work.write("t/a.jsonl", one(2, 0));
    for _ in 0..2 {
        work.run(&["run", "qwen-image-bench", "t"]).expect(0);
        assert_eq!(overall(&work), json!({ "overall": 50.0, "n": 2 }));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn file_names_that_are_not_utf8_stay_two() {
    use std::os::unix::ffi::OsStrExt;
    let work = Workdir::new();
    std::fs::create_dir(work.path("t")).unwrap();
    for (id, byte) in [(1, b'\xff'), (2, b'\xfe')] {
        let name = [b"a", &[byte][..], b".jsonl"].concat();
        std::fs::write(work.path("t").join(std::ffi::OsStr::from_bytes(&name)), one(id, 2)).unwrap();
    }
    work.run(&["run", "qwen-image-bench", "t"]).expect(0);
    assert_eq!(overall(&work)["n"], 2);
}

#[test]
fn one_file_under_two_judges_is_two_entries() {
    let work = Workdir::new();
    work.write("r.jsonl", one(1, 2));
    for judge in ["j1", "j2"] {
        work.run(&["ingest", "qwen-image-bench", "r.jsonl", "--judge", judge]).expect(0);
    }
    work.run(&["score", "qwen-image-bench"]).expect(0);
    assert_eq!(work.row("SELECT count(*) AS n FROM qwen_image_bench.leaderboard")["n"], 2);
}

#[test]
fn strict_does_not_count_unknown_facets_that_metadata_list() {
    let work = Workdir::new();
    let reply = json!(r#"{"Vibes":{"Cool":{"score":2}},"Realism":{"Physical Logic":{"score":0}}}"#);
    work.write("r.jsonl", line(1, &format!("{DIMS}; Quality / Vibes / Cool"), &[("quality_response_m", reply)]));
    work.run(&["ingest", "qwen-image-bench", "r.jsonl"]).expect(0);
    for (protocol, overall, all) in [
        ("official", 50.0, json!({ "expected": 2, "ok": 2, "missing": 0, "unknown": 0 })),
        ("strict", 0.0, json!({ "expected": 2, "ok": 1, "missing": 1, "unknown": 1 })),
    ] {
        let ran = work.run(&["score", "qwen-image-bench", "--protocol", protocol, "--facets", "metadata"]).expect(0);
        let id = ran.stderr.lines().find_map(|line| line.strip_prefix("snapshot ")).unwrap()[..32].to_owned();
        let target = format!("qwen-image-bench@{id}");
        assert_eq!(work.json(&["show", &target])[0]["overall"], json!(overall), "{protocol}");
        let ledger = work.json(&["show", &target, "ledger"]);
        let row = ledger.as_array().unwrap().iter().find(|row| row["level"] == "all").unwrap().clone();
        for (name, count) in all.as_object().unwrap() {
            assert_eq!(row[name], *count, "{protocol} {name}");
        }
    }
}

/// A score that takes long must not lose the parts it reads to an ingest that replaces them.
#[test]
fn replacing_a_source_while_it_is_scored() {
    let work = Workdir::new();
    let synth = |seed: &str| {
        let made = [
            "synth",
            "qwen-image-bench",
            "--rows",
            "60",
            "--models",
            "6",
            "--think-chars",
            "20",
            "--seed",
            seed,
            "-o",
            "r.jsonl",
        ];
        work.run(&made).expect(0);
    };
    synth("1");
    work.run(&["ingest", "qwen-image-bench", "r.jsonl"]).expect(0);
    for seed in ["2", "3", "4"] {
        let mut score = work.command(&["score", "qwen-image-bench", "-q"]).spawn().unwrap();
        synth(seed);
        work.run(&["ingest", "qwen-image-bench", "r.jsonl"]).expect(0);
        assert_eq!(score.wait().unwrap().code(), Some(0), "it scored what it had begun with");
    }
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    for snapshot in work.json(&["snapshot", "ls"]).as_array().unwrap() {
        let target = format!("qwen-image-bench@{}", snapshot["id"].as_str().unwrap());
        let board = work.json(&["show", &target]);
        assert!(board.as_array().unwrap().iter().all(|row| row["n"] == 60), "{target}: {board}");
    }
}
