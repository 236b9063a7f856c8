//! Bad input: each gets a clear error or the state its case names, never a panic, and what was there before stays.

use std::io::Write;

use serde_json::json;

use super::util::{Workdir, line, tree};

const DIMS: &str = "Quality / Realism / Physical Logic";

fn good(id: u32) -> String {
    line(id, DIMS, &[("quality_response_m", json!(r#"{"Realism":{"Physical Logic":{"score":2}}}"#))])
}

/// Runs an ingest that must fail with these words and publish nothing.
#[track_caller]
fn assert_fails(content: impl AsRef<[u8]>, words: &[&str]) {
    let work = Workdir::new();
    work.write("bad.jsonl", content);
    let ran = work.run(&["ingest", "qwen-image-bench", "bad.jsonl"]).expect(1);
    for word in words.iter().chain(&["bad.jsonl"]) {
        assert!(ran.stderr.contains(word), "`{word}` is not in:\n{}", ran.stderr);
    }
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert!(!work.path("lake/datasets/qwen-image-bench/manifest.json").exists(), "nothing is published");
}

/// Ingests content that must be read without trouble; gives the number of prompts.
#[track_caller]
fn prompts(content: impl AsRef<[u8]>) -> i64 {
    let work = Workdir::new();
    work.write("r.jsonl", content);
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    assert_eq!(work.row("SELECT min(overall) AS o FROM qwen_image_bench.prompt_scores")["o"], json!(100.0));
    work.row("SELECT count(*) AS n FROM qwen_image_bench.prompts")["n"].as_i64().unwrap()
}

#[test]
fn d01_d02_d09_line_ends_and_marks() {
    assert_eq!(prompts(format!("\u{feff}{}", good(1))), 1);
    assert_eq!(prompts((good(1) + &good(2)).replace('\n', "\r\n")), 2);
    assert_eq!(prompts((good(1) + &good(2)).trim_end()), 2);
    assert_eq!(prompts(format!("\n  \n{}\r\n\n{}\n\n", good(1), good(2))), 2);
    assert_eq!(prompts(format!("\u{feff}[{},\n{}]", good(1).trim(), good(2).trim())), 2);
}

#[test]
fn d05_empty_files() {
    assert_fails("", &["no records"]);
    assert_fails("\n\n \r\n", &["no records"]);
    assert_fails("[]", &["no records"]);
    assert_fails("\u{feff}", &["no records"]);
    assert_fails(zstd::encode_all(&b""[..], 1).unwrap(), &["no records"]);
}

#[test]
fn d06_truncated_archives() {
    let text: String = (0..400).map(good).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    assert_fails(&gzip[..gzip.len() / 2], &["cannot read on", "damaged or cut short"]);
    assert_fails(&gzip[..gzip.len() - 1], &["cannot read on"]);
    let zst = zstd::encode_all(text.as_bytes(), 1).unwrap();
    assert_fails(&zst[..zst.len() / 2], &["cannot read on"]);
    assert_fails([&gzip[..], b"garbage"].concat(), &["cannot read on"]);
}

#[test]
fn d15_a_line_of_20_mib() {
    let work = Workdir::new();
    let reply = format!("<think>{}</think>{}", "x".repeat(20 << 20), r#"{"Realism":{"Physical Logic":{"score":2}}}"#);
    work.write("r.jsonl", line(1, DIMS, &[("quality_response_m", json!(reply))]) + &good(2));
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    let row = work.row("SELECT count(*) AS n, max(length(text)) AS longest FROM qwen_image_bench.responses");
    assert_eq!(row, json!({ "n": 2, "longest": (20 << 20) + 15 + 42 }));
    let ran = work.run(&["ingest", "qwen-image-bench", "r.jsonl", "--no-raw", "--max-line", "1MiB"]).expect(1);
    for word in ["a line longer than 1048576 bytes", "line: 1", "--max-line"] {
        assert!(ran.stderr.contains(word), "{}", ran.stderr);
    }
}

#[test]
fn d21_bad_lines_are_named_by_their_physical_number() {
    let text = good(1) + "\n\n\n\n\n\n\n\n\n\n{\"ID\": 2,\n" + &good(3);
    assert_fails(text, &["line: 12", "not JSON", "--on-error reject"]);
}

#[test]
fn what_is_no_record() {
    for (text, words) in [
        ("[1, 2]\n", &["a number where an object is due"][..]),
        ("3\n", &["a number where an object is due"]),
        ("\"text\"\n", &["a string where an object is due"]),
        ("{\"ID\": 1}\n", &["and no dims_en: the record has the keys", "keys ID"]),
        ("{\"dims_en\": \"x\"}\n", &["no ID"]),
        ("{\"ID\": null, \"dims_en\": \"x\"}\n", &["ID is null"]),
        ("{\"ID\": 1.5, \"dims_en\": \"x\"}\n", &["ID is 1.5 where an integer is due"]),
        ("{\"ID\": \"seven\", \"dims_en\": \"x\"}\n", &["ID is seven where an integer is due"]),
        ("{\"ID\": 99999999999999999999, \"dims_en\": \"x\"}\n", &["where an integer is due"]),
        ("{\"ID\": 1, \"dims_en\": [\"x\"]}\n", &["`dims_en` is", "where a text is due"]),
        ("{\"ID\": 1, \"dims_en\": \"x\"} trailing\n", &["text after the value"]),
        ("{\"ID\": 1, \"dims_en\": \"\\q\"}\n", &["unknown escape"]),
        ("not json at all\n", &["not JSON"]),
        ("name,mos\na,1\n", &["not JSON"]),
    ] {
        assert_fails(text, words);
    }
    let mut bytes = good(1).into_bytes();
    bytes.extend(b"{\"ID\": 2, \"dims_en\": \"caf\xe9\"}\n");
    assert_fails(bytes, &["line: 2", "not UTF-8 at byte 26"]);
    assert_fails(b"PAR1\0\0\0\0PAR1", &["Parquet"]);
    assert_fails("[".repeat(200_000), &["nested too deeply"]);
}

#[test]
fn the_wrong_file_is_said_to_be_wrong_under_reject_too() {
    let work = Workdir::new();
    work.write(
        "magic.jsonl",
        "{\"prompt_t2i\": \"a cat\", \"class\": \"animal\"}\n{\"prompt_t2i\": \"a dog\", \"class\": \"animal\"}\n",
    );
    let ran = work.run(&["ingest", "qwen-image-bench", "magic.jsonl", "--on-error", "reject"]).expect(1);
    for word in ["no file of qwen-image-bench, but one of magicbench", "scorelake ingest magicbench"] {
        assert!(ran.stderr.contains(word), "{}", ran.stderr);
    }
    work.write("other.jsonl", "{\"colour\": \"red\"}\n");
    let ran = work.run(&["ingest", "qwen-image-bench", "other.jsonl", "--on-error", "reject"]).expect(1);
    for word in ["no line of the file fits qwen-image-bench", "keys colour", "right file for this dataset"] {
        assert!(ran.stderr.contains(word), "{}", ran.stderr);
    }
}

#[test]
fn d22_rejects_are_kept_with_their_reasons() {
    let work = Workdir::new();
    let mut text = String::new();
    for id in 1..=10_000 {
        text += &match id {
            17 => "oops\n".to_owned(),
            5000 => "[]\n".to_owned(),
            9999 => "{\"ID\": \"x\", \"dims_en\": \"\"}\n".to_owned(),
            _ => good(id),
        };
    }
    work.write("r.jsonl", &text);
    let ran = work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(1);
    assert!(ran.stderr.contains("line: 17"), "{}", ran.stderr);
    let ran = work.run(&["run", "qwen-image-bench", "r.jsonl", "--on-error", "reject"]).expect(3);
    assert!(ran.stderr.contains("3 records rejected"), "{}", ran.stderr);
    assert_eq!(work.row("SELECT n FROM qwen_image_bench.leaderboard")["n"], 9997);
    let rejects = work.sql("SELECT line, reason, text FROM qwen_image_bench.rejects ORDER BY line");
    let found: Vec<_> =
        rejects.iter().map(|row| (row["line"].as_i64().unwrap(), row["text"].as_str().unwrap())).collect();
    assert_eq!(found, [(17, "oops"), (5000, "[]"), (9999, "{\"ID\": \"x\", \"dims_en\": \"\"}")]);
    assert!(rejects.iter().all(|row| !row["reason"].as_str().unwrap().is_empty()));
    // A later score of the same lake is still partial.
    let ran = work.run(&["score", "qwen-image-bench"]).expect(3);
    assert!(ran.stderr.contains("3 rejected records of the lake are not in these numbers"), "{}", ran.stderr);
}

#[test]
fn f05_one_unreadable_input_of_three() {
    let work = Workdir::new();
    work.write("a.jsonl", good(1));
    work.write("b.jsonl", good(2));
    work.run(&["ingest", "qwen-image-bench", "a.jsonl", "gone.jsonl", "b.jsonl"]).expect(1);
    assert!(!work.path("lake/datasets").exists(), "nothing is published");
    let ran =
        work.run(&["run", "qwen-image-bench", "a.jsonl", "gone.jsonl", "b.jsonl", "--on-error", "reject"]).expect(3);
    assert!(ran.stderr.contains("gone.jsonl: left out, none of its records counts: no such file"), "{}", ran.stderr);
    let (_, record) = tree(&work.path("lake/runs")).pop().unwrap();
    let record: serde_json::Value = serde_json::from_slice(&record).unwrap();
    assert_eq!(record["status"], "partial");
    assert!(record["ingest"]["unreadable"][0][0].as_str().unwrap().ends_with("gone.jsonl"));
}

#[test]
fn odd_values_where_a_reply_is_due() {
    let work = Workdir::new();
    let replies = [
        ("quality_response_a", json!(3)),
        ("quality_response_b", json!({"Realism": {"Physical Logic": {"score": 2}}})),
        ("quality_response_c", json!(["x"])),
        ("quality_response_d", json!(null)),
        ("quality_response_e", json!(true)),
    ];
    work.write("r.jsonl", line(1, DIMS, &replies));
    let ran = work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    assert!(ran.stderr.contains("values that are JSON where a text is due, read as text: 4"), "{}", ran.stderr);
    let rows = work.sql("SELECT model, outcome FROM qwen_image_bench.responses ORDER BY model");
    let found: Vec<_> = rows.iter().map(|row| row["outcome"].as_str().unwrap()).collect();
    assert_eq!(found, ["parse_failed", "ok", "parse_failed", "missing", "parse_failed"]);
}

#[test]
fn lakes_of_a_newer_version_are_refused() {
    let work = Workdir::new();
    work.write("r.jsonl", good(1));
    work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(0);
    for file in ["lake/lake.json", "lake/datasets/qwen-image-bench/manifest.json"] {
        let text = std::fs::read_to_string(work.path(file)).unwrap();
        let newer = text.replacen("\"format\":1", "\"format\":9", 1).replacen("\"format\": 1", "\"format\": 9", 1);
        assert_ne!(text, newer);
        work.write(file, &newer);
        for args in [
            &["run", "qwen-image-bench", "r.jsonl"][..],
            &["score", "qwen-image-bench"],
            &["sql", "SELECT count(*) FROM qwen_image_bench.prompts"],
        ] {
            let ran = work.run(args).expect(1);
            assert!(ran.stderr.contains("newer scorelake (format 9"), "{file}: {}", ran.stderr);
        }
        assert_eq!(std::fs::read_to_string(work.path(file)).unwrap(), newer, "left as it was");
        work.write(file, text);
    }
    let broken = work.write("lake/datasets/qwen-image-bench/manifest.json", "{\"format\": 1, \"dataset\"");
    let ran = work.run(&["score", "qwen-image-bench"]).expect(1);
    assert!(ran.stderr.contains("the manifest does not parse") && ran.stderr.contains(&broken), "{}", ran.stderr);
}

#[test]
fn folders_that_are_no_lake() {
    let work = Workdir::new();
    work.write("lake/thesis.txt", "do not touch");
    work.write("r.jsonl", good(1));
    let ran = work.run(&["run", "qwen-image-bench", "r.jsonl"]).expect(1);
    assert!(ran.stderr.contains("not empty and no lake"), "{}", ran.stderr);
    assert_eq!(tree(&work.path("lake")).len(), 1);
    let ran = work.run(&["show", "qwen-image-bench", "--lake", "nowhere"]).expect(1);
    assert!(ran.stderr.contains("no lake here"), "{}", ran.stderr);
    work.write("file", "x");
    let ran = work.run(&["run", "qwen-image-bench", "r.jsonl", "--lake", "file/lake"]).expect(1);
    assert!(ran.stderr.contains("cannot make the lake's folder"), "{}", ran.stderr);
}

/// A small file system that fills up; needs the right to mount one, as root in a namespace has.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_keeps_what_was_there() {
    let work = Workdir::new();
    work.write("small.jsonl", good(1));
    work.run(&[
        "synth",
        "qwen-image-bench",
        "--rows",
        "40",
        "--models",
        "18",
        "--think-chars",
        "3000",
        "-o",
        "big.jsonl",
    ])
    .expect(0);
    std::fs::create_dir(work.path("disk")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=1500k tmpfs disk || exit 77
         '{bin}' --lake disk/lake run qwen-image-bench small.jsonl -q > first.csv --format csv || exit 1
         find disk/lake/datasets disk/lake/snapshots -type f | sort | xargs sha256sum > before
         '{bin}' --lake disk/lake run qwen-image-bench big.jsonl 2> error.txt; echo $? > code
         find disk/lake/datasets disk/lake/snapshots -type f | sort | xargs sha256sum > after
         '{bin}' --lake disk/lake show qwen-image-bench --format csv > second.csv",
        bin = env!("CARGO_BIN_EXE_scorelake")
    );
    let status = std::process::Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &script])
        .current_dir(work.path("."))
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) if status.code() != Some(77) && status.code() != Some(1) => panic!("the script failed: {status}"),
        other => {
            assert!(
                !work.path("disk").join("lake").exists() && !work.path("first.csv").exists(),
                "the first run failed"
            );
            eprintln!("skipped: no small file system can be mounted here ({other:?})");
            return;
        }
    }
    let read = |name: &str| std::fs::read_to_string(work.path(name)).unwrap();
    assert_eq!(read("code").trim(), "1", "{}", read("error.txt"));
    assert!(read("error.txt").contains("No space left on device"), "{}", read("error.txt"));
    assert!(!read("error.txt").contains("panicked"), "{}", read("error.txt"));
    assert_eq!(read("before"), read("after"));
    assert_eq!(read("first.csv"), read("second.csv"));
}

#[cfg(unix)]
#[test]
fn hostile_names_are_data() {
    // S12, S14, S16
    let work = Workdir::new();
    let name = r#"x"; DROP TABLE scores; --"#;
    let path_like = "../../tmp/x";
    let slashed = "org/model:bf16";
    let reply = json!(r#"{"Realism":{"Physical Logic":{"score":2}}}"#);
    let keys = [name, path_like, slashed, "a\u{1b}[31mred"].map(|name| format!("quality_response_{name}"));
    let replies: Vec<_> = keys.iter().map(|key| (key.as_str(), reply.clone())).collect();
    let file = work.write("o'hara [1].jsonl", line(1, DIMS, &replies));
    let ran = work.run(&["run", "qwen-image-bench", &file, "--judge", "j'; --"]).expect(0);
    assert!(!ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'), "no escape code reaches the terminal");
    assert!(ran.stdout.contains("\\u{1b}[31mred") && ran.stderr.contains("\\u{1b}[31mred"), "{}", ran.stderr);
    let models = work.sql("SELECT model FROM qwen_image_bench.leaderboard ORDER BY model");
    let models: Vec<_> = models.iter().map(|row| row["model"].as_str().unwrap().to_owned()).collect();
    assert!(
        models.contains(&name.to_owned())
            && models.contains(&path_like.to_owned())
            && models.contains(&slashed.to_owned()),
        "{models:?}"
    );
    assert_eq!(models.len(), 4);
    assert!(!work.path("../../tmp/x").exists());
    let found = work.json(&[
        "sql",
        "SELECT count(*) AS n FROM qwen_image_bench.leaderboard WHERE model = $m",
        "--set",
        &format!("m={path_like}"),
    ]);
    assert_eq!(found[0]["n"], 1);
}
