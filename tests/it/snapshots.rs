//! Snapshots come out the same however the work is done, and show when they were changed.

use std::path::Path;

use super::util::{Workdir, tree};

const SCORING: [&str; 2] = ["run", "qwen-image-bench"];

fn made(work: &Workdir, rows: &str) -> String {
    let synth = [
        "synth",
        "qwen-image-bench",
        "--rows",
        rows,
        "--models",
        "4",
        "--en",
        "--noise",
        "0.1",
        "--think-chars",
        "40",
        "-o",
        "r.jsonl",
    ];
    work.run(&synth).expect(0);
    std::fs::read_to_string(work.path("r.jsonl")).unwrap()
}

/// The snapshot's id and table files after a run in a lake of its own.
fn snapshot(work: &Workdir, lake: &str, args: &[&str]) -> (String, Vec<(String, Vec<u8>)>) {
    let mut all = SCORING.to_vec();
    all.extend(["--lake", lake, "-q", "--intervals", "default"]);
    all.extend(args);
    work.run(&all).expect(0);
    let root = work.path(lake).join("snapshots/qwen-image-bench");
    let id = std::fs::read_to_string(root.join("LATEST-official")).unwrap().trim().to_owned();
    let mut files = tree(&root.join(&id));
    files.retain(|(name, _)| name != "manifest.json");
    assert_eq!(files.len(), 13);
    (id, files)
}

#[test]
fn the_same_bytes_for_any_threads_batches_order_and_split() {
    let work = Workdir::new();
    let text = made(&work, "60");
    let first = snapshot(&work, "l1", &["r.jsonl", "--threads", "1"]);
    for (lake, args) in [
        ("l2", &["r.jsonl", "--threads", "2"][..]),
        ("l8", &["r.jsonl", "--threads", "8", "--batch-size", "64"]),
        ("l16", &["r.jsonl", "--threads", "16", "--batch-size", "100"]),
        ("lb", &["r.jsonl", "--threads", "3", "--batch-size", "7"]),
        ("lm", &["r.jsonl", "--threads", "2", "--memory", "64MiB"]),
        ("lraw", &["r.jsonl", "--no-raw"]),
    ] {
        assert_eq!(snapshot(&work, lake, args), first, "{args:?}");
    }

    // Lines in another order, in three files, one of them compressed.
    let mut lines: Vec<&str> = text.lines().collect();
    lines.reverse();
    lines.rotate_left(17);
    for (name, part) in ["z.jsonl", "a.jsonl", "m.jsonl"].iter().zip(lines.chunks(25)) {
        work.write(&format!("split/{name}"), part.join("\n"));
    }
    let packed = zstd::encode_all(std::fs::read(work.path("split/m.jsonl")).unwrap().as_slice(), 3).unwrap();
    work.write("split/m.jsonl.zst", packed);
    std::fs::remove_file(work.path("split/m.jsonl")).unwrap();
    assert_eq!(snapshot(&work, "ls", &["split", "--threads", "5"]), first);

    // In one lake, source after source.
    for name in ["z.jsonl", "m.jsonl.zst", "a.jsonl"] {
        snapshot(&work, "lone", &[&format!("split/{name}")]);
    }
    assert_eq!(snapshot(&work, "lone", &["split/a.jsonl"]), first);
}

#[test]
fn one_other_score_is_another_snapshot() {
    let work = Workdir::new();
    let text = made(&work, "5");
    let (before, _) = snapshot(&work, "lake", &["r.jsonl"]);
    let at = text.find("score\\\": 2").unwrap();
    let mut changed = text.into_bytes();
    changed[at + "score\\\": ".len()] = b'0';
    work.write("r.jsonl", changed);
    // G08: one byte of the input changed, so the source is read again and its old parts are gone.
    let (after, _) = snapshot(&work, "lake", &["r.jsonl"]);
    assert_ne!(before, after);
    assert_eq!(work.row("SELECT count(DISTINCT source) AS n FROM qwen_image_bench.responses")["n"], 1);
    assert_eq!(work.json(&["snapshot", "ls"]).as_array().unwrap().len(), 2);
}

#[test]
fn parameters_and_protocol_are_part_of_the_id() {
    let work = Workdir::new();
    made(&work, "5");
    let (official, _) = snapshot(&work, "lake", &["r.jsonl"]);
    let ran = work.run(&["score", "qwen-image-bench", "--set", "score_map_1=50.0"]).expect(0);
    assert!(ran.stderr.contains("not the latest"), "{}", ran.stderr);
    assert_eq!(work.latest("official"), official);
    // The default written in another way is the default.
    work.run(&["score", "qwen-image-bench", "--set", "score_map_1=60"]).expect(0);
    work.run(&["score", "qwen-image-bench", "--protocol", "strict"]).expect(0);
    assert_ne!(work.latest("strict"), official);
    let again = work.run(&["score", "qwen-image-bench"]).expect(0);
    assert!(again.stderr.contains("the same as one that was there"), "{}", again.stderr);
    let ids: Vec<_> =
        work.json(&["snapshot", "ls"]).as_array().unwrap().iter().map(|row| row["id"].to_string()).collect();
    // With intervals and without, by another parameter, and strict.
    assert_eq!(ids.len(), 4);
}

#[test]
fn every_flipped_byte_is_found() {
    let work = Workdir::new();
    made(&work, "3");
    let (id, _) = snapshot(&work, "lake", &["r.jsonl"]);
    work.run(&["snapshot", "verify", "qwen-image-bench"]).expect(0);
    let dir = work.path("lake/snapshots/qwen-image-bench").join(&id);
    let files = tree(&dir);
    assert_eq!(files.len(), 14);
    for (name, bytes) in &files {
        for place in [0, bytes.len() / 3, bytes.len() / 2, bytes.len() - 2] {
            let mut changed = bytes.clone();
            changed[place] ^= 0x04;
            std::fs::write(dir.join(name), &changed).unwrap();
            let ran = work.run(&["snapshot", "verify", &format!("qwen-image-bench@{id}")]);
            assert!(ran.code == 1, "byte {place} of {name}: exit {}\n{}{}", ran.code, ran.stdout, ran.stderr);
            assert!((ran.stdout.clone() + &ran.stderr).contains(name.as_str()), "{name}: {}{}", ran.stdout, ran.stderr);
        }
        // D08: cut short by one byte.
        std::fs::write(dir.join(name), &bytes[..bytes.len() - 1]).unwrap();
        work.run(&["snapshot", "verify", &format!("qwen-image-bench@{id}")]).expect(1);
        std::fs::write(dir.join(name), bytes).unwrap();
    }
    work.run(&["snapshot", "verify"]).expect(0);
    // Totals that a manifest with a digest of its own would carry.
    let text = String::from_utf8(files.iter().find(|(name, _)| name == "manifest.json").unwrap().1.clone()).unwrap();
    let at = text.find("\"ok\": ").unwrap();
    std::fs::write(dir.join("manifest.json"), text[..at].to_owned() + "\"ok\": 9" + &text[at + 6..]).unwrap();
    let ran = work.run(&["snapshot", "verify"]).expect(1);
    assert!(ran.stdout.contains("ledger totals"), "{}", ran.stdout);
    std::fs::write(dir.join("manifest.json"), text).unwrap();
    std::fs::write(dir.join("extra.txt"), "x").unwrap();
    work.run(&["snapshot", "verify"]).expect(1);
    std::fs::remove_file(dir.join("extra.txt")).unwrap();
    std::fs::remove_file(dir.join("ledger.parquet")).unwrap();
    let ran = work.run(&["snapshot", "verify"]).expect(1);
    assert!(ran.stdout.contains("ledger.parquet"), "{}", ran.stdout);
    // A damaged snapshot of the same id is not taken for the result of a new run.
    let ran = work.run(&["score", "qwen-image-bench", "--intervals", "default"]).expect(1);
    assert!(ran.stderr.contains("its bytes are not what it says"), "{}", ran.stderr);
}

#[test]
fn a_cut_table_is_called_corrupt() {
    let work = Workdir::new();
    made(&work, "3");
    let (id, _) = snapshot(&work, "lake", &["r.jsonl"]);
    let path = work.path("lake/snapshots/qwen-image-bench").join(id).join("leaderboard.parquet");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    for args in [&["show", "qwen-image-bench"][..], &["sql", "SELECT * FROM qwen_image_bench.leaderboard"]] {
        let ran = work.run(args).expect(1);
        assert!(ran.stderr.contains("corrupt"), "{}", ran.stderr);
        assert!(ran.stderr.contains("leaderboard.parquet"), "{}", ran.stderr);
    }
}

#[test]
fn snapshots_are_found_by_id_prefix_and_protocol() {
    let work = Workdir::new();
    made(&work, "3");
    let (id, _) = snapshot(&work, "lake", &["r.jsonl"]);
    for reference in [
        "qwen-image-bench".to_owned(),
        format!("qwen-image-bench@{}", &id[..6]),
        "qwen_image_bench@official".to_owned(),
    ] {
        assert_eq!(work.json(&["snapshot", "show", &reference])["id"], id.as_str());
    }
    let ran = work.run(&["show", "qwen-image-bench@strict"]).expect(1);
    assert!(ran.stderr.contains("no snapshot of protocol `strict`"), "{}", ran.stderr);
    let ran = work.run(&["show", "qwen-image-bench@zz"]).expect(1);
    assert!(ran.stderr.contains("no snapshot `zz`"), "{}", ran.stderr);
    let ran = work.run(&["show", "qwen-image-bench", "nothing"]).expect(2);
    assert!(ran.stderr.contains("tables: capability_scores"), "{}", ran.stderr);
}

#[test]
fn manifests_hold_no_clock_and_no_secret_of_the_machine_in_the_id() {
    let (a, b) = (Workdir::new(), Workdir::new());
    made(&a, "3");
    made(&b, "3");
    let first = snapshot(&a, "lake", &["r.jsonl"]);
    assert_eq!(first, snapshot(&b, "other/lake", &["r.jsonl"]), "another folder, another time");
    assert!(Path::new(&a.path("lake/snapshots/qwen-image-bench")).join(first.0).join("manifest.json").exists());
}
