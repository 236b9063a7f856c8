//! `scorelake lake`: what it holds, a source taken out again, leftovers removed, a verified copy.

use serde_json::{Value, json};

use super::util::{Workdir, line, tree};

const QWEN: &str = "qwen-image-bench";

fn reply(id: u32, score: u32) -> String {
    let verdict = format!(r#"{{"Realism":{{"Physical Logic":{{"score":{score}}}}}}}"#);
    line(id, "Quality / Realism / Physical Logic", &[("m", json!("m/1.png")), ("quality_response_m", json!(verdict))])
}

/// Three sources, of which two speak of prompt 1.
fn lake() -> Workdir {
    let work = Workdir::new();
    work.write("a/first.jsonl", reply(1, 0) + &reply(2, 2));
    work.write("b/second.jsonl", reply(1, 2));
    work.write("c/third.jsonl", reply(3, 1));
    work.run(&["ingest", QWEN, "a/first.jsonl", "c/third.jsonl", "-q"]).expect(0);
    work.run(&["run", QWEN, "b/second.jsonl", "--supersede", "-q"]).expect(0);
    work
}

fn overall(work: &Workdir) -> Value {
    work.row("SELECT overall FROM qwen_image_bench.leaderboard")["overall"].clone()
}

#[test]
fn a_source_is_taken_out_again() {
    let work = lake();
    assert_eq!(overall(&work), json!((100.0 + 100.0 + 60.0) / 3.0));
    let before = work.latest("official");
    let rows = work.json(&["lake", "info", QWEN]);
    let of = |table: &str| rows.as_array().unwrap().iter().find(|row| row["table"] == table).unwrap().clone();
    assert_eq!((&of("responses")["rows"], &of("responses")["parts"]), (&json!(4), &json!(3)));
    assert_eq!(of("set_aside")["rows"], json!(1));
    let sources = work.json(&["lake", "info", "--sources"]);
    assert_eq!(sources.as_array().unwrap().len(), 3);
    let key = sources.as_array().unwrap().iter().find(|row| row["uris"].as_str().unwrap().ends_with("third.jsonl"));
    let key = key.unwrap()["key"].as_str().unwrap().to_owned();
    for (name, told) in
        [("nothing.jsonl", "no source `nothing.jsonl`"), ("rst.jsonl", "no source"), (&key[..4], "no source")]
    {
        let ran = work.run(&["lake", "drop-source", QWEN, name]).expect(2);
        assert!(ran.stderr.contains(told), "{name}: {}", ran.stderr);
    }
    // The one that superseded goes: what it took the place of counts again.
    work.run(&["lake", "drop-source", QWEN, "second.jsonl"]).expect(0);
    work.run(&["score", QWEN, "-q"]).expect(0);
    assert_eq!(overall(&work), json!((0.0 + 100.0 + 60.0) / 3.0));
    let ran = work.run(&["lake", "drop-source", QWEN, &key, "c/third.jsonl"]).expect(0);
    assert!(ran.stderr.contains("third.jsonl: 1 records"), "{}", ran.stderr);
    work.run(&["score", QWEN, "-q"]).expect(0);
    assert_eq!(overall(&work), json!(50.0));
    // Snapshots keep their own data, and the source may come again.
    work.run(&["snapshot", "verify", &format!("{QWEN}@{before}")]).expect(0);
    work.run(&["ingest", QWEN, "c/third.jsonl", "-q"]).expect(0);
    work.run(&["run", QWEN, "b/second.jsonl", "--supersede", "-q"]).expect(0);
    assert_eq!(work.latest("official"), before);
    // A name that several sources have is not guessed at.
    work.write("d/third.jsonl", reply(4, 2));
    work.run(&["ingest", QWEN, "d/third.jsonl", "-q"]).expect(0);
    let ran = work.run(&["lake", "drop-source", QWEN, "third.jsonl"]).expect(2);
    assert!(ran.stderr.contains("`third.jsonl` is 2 sources") && ran.stderr.contains(&key), "{}", ran.stderr);
    work.run(&["lake", "drop-source", QWEN, "d/third.jsonl"]).expect(0);
}

#[test]
fn leftovers_are_removed() {
    let work = lake();
    let table = work.path("lake/datasets/qwen-image-bench/responses");
    let kept = tree(&work.path("lake/datasets"));
    std::fs::write(table.join("left-over-0.parquet"), "x").unwrap();
    work.write("lake/staging/cut-short/part-0.parquet", "xyz");
    work.write("lake/staging/held/part-0.parquet", "xyz");
    let held = std::fs::File::create(work.path("lake/staging/held.lock")).unwrap();
    held.lock().unwrap();
    // Not while someone reads.
    let readers = work.path("lake/datasets/qwen-image-bench/.readers");
    let reader = std::fs::File::options().create(true).append(true).open(&readers).unwrap();
    reader.lock_shared().unwrap();
    let ran = work.run(&["lake", "gc"]).expect(3);
    assert!(ran.stderr.contains("is being read"), "{}", ran.stderr);
    assert!(table.join("left-over-0.parquet").exists() && !work.path("lake/staging/cut-short").exists());
    drop(reader);
    let ran = work.run(&["lake", "gc"]).expect(0);
    assert!(ran.stderr.contains("qwen-image-bench: removed 1 file, 1 bytes"), "{}", ran.stderr);
    assert!(work.path("lake/staging/held/part-0.parquet").exists(), "another process holds it");
    drop(held);
    work.run(&["lake", "gc"]).expect(0);
    assert!(!work.path("lake/staging/held").exists());
    let parts =
        |files: Vec<(String, Vec<u8>)>| files.into_iter().filter(|(name, _)| !name.contains("/.")).collect::<Vec<_>>();
    assert_eq!(parts(tree(&work.path("lake/datasets"))), parts(kept));
    work.run(&["score", QWEN, "-q"]).expect(0);
}

#[test]
fn a_copy_is_the_same_lake() {
    let work = lake();
    let copy = work.path("copy").to_string_lossy().into_owned();
    let ran = work.run(&["lake", "copy", &copy]).expect(0);
    assert!(ran.stderr.contains("is there and the same"), "{}", ran.stderr);
    let of = |name: &str| -> Vec<(String, Vec<u8>)> {
        let files = tree(&work.path(name)).into_iter();
        files
            .filter(|(name, _)| !name.contains("/.") && !name.starts_with("runs") && !name.starts_with("staging"))
            .collect()
    };
    assert!(of("copy") == of("lake"));
    let ran = work.run(&["score", QWEN, "--lake", &copy]).expect(0);
    assert!(
        ran.stderr.contains(&work.latest("official")) && ran.stderr.contains("the same as one that was there"),
        "{}",
        ran.stderr
    );
    // Again there is nothing to copy, and a part that was damaged there is mended.
    let ran = work.run(&["lake", "copy", &copy]).expect(0);
    assert!(ran.stderr.contains("0 files, 0 bytes"), "{}", ran.stderr);
    let part = of("copy").into_iter().find(|(name, _)| name.ends_with(".parquet")).unwrap();
    std::fs::write(work.path("copy").join(&part.0), "x").unwrap();
    let ran = work.run(&["lake", "copy", &copy]).expect(0);
    assert!(ran.stderr.contains("copied 1 file"), "{}", ran.stderr);
    assert!(of("copy") == of("lake"));
    // A lake that has other sources is not overwritten, and neither is the lake itself.
    work.run(&["ingest", QWEN, "--lake", &copy, "b/second.jsonl", "--judge", "J", "-q"]).expect(0);
    let ran = work.run(&["lake", "copy", &copy]).expect(1);
    assert!(ran.stderr.contains("is there, and not the same"), "{}", ran.stderr);
    let own = work.path("lake").to_string_lossy().into_owned();
    work.run(&["lake", "copy", &own]).expect(2);
}

/// G03 on disk: a score that would change what is latest, killed at many moments. What was there is there and sound each time, and the next run
/// leaves nothing of the killed ones behind.
#[test]
fn g03_kills_on_disk() {
    let work = lake();
    let before = (work.latest("official"), work.json(&["show", QWEN]));
    work.write("d/fourth.jsonl", reply(4, 0));
    let score =
        || work.command(&["run", QWEN, "d/fourth.jsonl", "-q"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    let mut killed = 0;
    for step in 0..12 {
        let mut child = score();
        std::thread::sleep(std::time::Duration::from_millis(60 * step));
        child.kill().unwrap();
        killed += usize::from(!child.wait().unwrap().success());
        work.run(&["snapshot", "verify"]).expect(0);
        let id = work.latest("official");
        if id == before.0 {
            assert_eq!(work.json(&["show", QWEN]), before.1);
        }
        work.run(&["sql", "SELECT count(*) FROM qwen_image_bench.responses"]).expect(0);
    }
    assert!(killed > 3, "{killed}");
    work.run(&["run", QWEN, "d/fourth.jsonl", "-q"]).expect(0);
    assert_eq!(overall(&work), json!((100.0 + 100.0 + 60.0 + 0.0) / 4.0));
    let left: Vec<_> =
        tree(&work.path("lake/staging")).into_iter().filter(|(name, _)| !name.ends_with(".lock")).collect();
    assert!(left.is_empty(), "{left:?}");
    work.run(&["snapshot", "verify"]).expect(0);
}
