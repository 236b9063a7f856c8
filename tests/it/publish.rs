//! `scorelake publish`: a snapshot to a folder, a bucket and the hub; what is published can be held against its digests.

use std::path::Path;

use serde_json::{Value, json};

use super::s3::{S3, ran, without_credentials};
use super::server::{Reply, Request, Server};
use super::util::{Workdir, project, tree};

const QWEN: &str = "qwen-image-bench";

fn scored() -> Workdir {
    let work = Workdir::new();
    let samples = project().join("data/samples/qwen-image-bench").to_string_lossy().into_owned();
    work.run(&["run", QWEN, &samples, "--intervals", "default", "-q"]).expect(0);
    work
}

/// The tables as they are in the snapshot, a manifest that names no folder of this machine, and a card.
fn check(work: &Workdir, published: &[(String, Vec<u8>)]) {
    let id = work.latest("official");
    let of = |name: &str| &published.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("{name}")).1;
    let snapshot = tree(&work.path(&format!("lake/snapshots/{QWEN}/{id}")));
    for (name, bytes) in snapshot.iter().filter(|(name, _)| name.ends_with(".parquet")) {
        assert!(of(name) == bytes, "{name}");
    }
    assert_eq!(published.len(), snapshot.len() + 1);
    let manifest: Value = serde_json::from_slice(of("manifest.json")).unwrap();
    assert_eq!((&manifest["id"], &manifest["inputs"][0]["uris"]), (&json!(id), &json!(["bench_metadata.json"])));
    let card = String::from_utf8(of("README.md").clone()).unwrap();
    for (name, text) in [("card", &card), ("manifest", &manifest.to_string())] {
        assert!(!text.contains(&*project().to_string_lossy()), "the {name} names a folder of this machine");
    }
    let (front, body) = card.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).unwrap();
    assert!(
        front.contains("- config_name: \"leaderboard\"\n  default: true\n  data_files: \"leaderboard.parquet\""),
        "{front}"
    );
    for told in [
        "# qwen-image-bench, official protocol",
        &id,
        "## Results",
        "| GPT-Image-1.5 ",
        "68.10–77.49",
        "## Method",
        "metric version 1",
        "## Provenance",
        "`bench_metadata.json`: 30 records",
        "## Cells",
        "1468 expected",
        "## Recompute",
        "scorelake run qwen-image-bench FILES --protocol official\n",
    ] {
        assert!(body.contains(told), "{told}: {body}");
    }
}

#[test]
fn to_a_folder_and_a_bucket() {
    let work = scored();
    let dry = work.run(&["publish", QWEN, "out", "--dry-run"]).expect(0);
    assert!(dry.stdout.contains("out/leaderboard.parquet") && dry.stdout.contains("## Provenance"), "{}", dry.stdout);
    assert!(!work.path("out").exists());
    work.run(&["publish", QWEN, "out"]).expect(0);
    check(&work, &tree(&work.path("out")));
    // Another pipeline, or other parameters, are what the card says to run.
    let agiqa = ["data.csv", "ratings.csv"].map(|name| project().join("data/samples/agiqa-3k").join(name));
    let agiqa = agiqa.map(|path| path.to_string_lossy().into_owned());
    work.run(&["ingest", "agiqa-3k", &agiqa[0], &agiqa[1], "-q"]).expect(0);
    let scored = work.run(&["score", "mos_from_ratings", "--set", "outlier_sd=2.5", "-q"]);
    assert!([0, 3].contains(&scored.code), "{}", scored.stderr);
    let listed = work.json(&["snapshot", "ls"]);
    let other = listed.as_array().unwrap().iter().find(|row| row["pipeline"] == "mos_from_ratings").unwrap();
    let target = format!("agiqa-3k@{}", other["id"].as_str().unwrap());
    let dry = work.run(&["publish", &target, "of-ratings", "--dry-run"]).expect(0);
    for told in
        ["scorelake ingest agiqa-3k FILES\nscorelake score mos_from_ratings --protocol ", " --set 'outlier_sd=2.5'"]
    {
        assert!(dry.stdout.contains(told), "{told}: {}", dry.stdout);
    }
    // The same again is the same; another snapshot takes its place, tables that are no more go.
    let before = tree(&work.path("out"));
    work.run(&["publish", QWEN, "out"]).expect(0);
    assert_eq!(tree(&work.path("out")), before);
    work.run(&["score", QWEN, "--protocol", "strict", "-q"]).expect(0);
    work.run(&["publish", &format!("{QWEN}@strict"), "out"]).expect(0);
    let names = |tree: &[(String, Vec<u8>)]| tree.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let strict = work.latest("strict");
    let mut wanted = names(&tree(&work.path(&format!("lake/snapshots/{QWEN}/{strict}"))));
    wanted.insert(0, "README.md".into());
    assert_eq!(names(&tree(&work.path("out"))), wanted);
    // Nothing else is written over, and a snapshot that was changed is not published.
    work.write("thesis/chapter.txt", "do not touch");
    let ran = work.run(&["publish", QWEN, "thesis"]).expect(2);
    assert!(ran.stderr.contains("`chapter.txt`, which is of no publication"), "{}", ran.stderr);
    work.write("out/notes.txt", "mine");
    let ran = work.run(&["publish", QWEN, "out"]).expect(2);
    assert!(ran.stderr.contains("`notes.txt`, which is of no publication"), "{}", ran.stderr);
    std::fs::remove_file(work.path("out/notes.txt")).unwrap();
    // Nor over what is published of another dataset; a dry run looks as well.
    let fager = project().join("data/samples/fager").to_string_lossy().into_owned();
    work.run(&["run", "fager", &fager, "-q"]).expect(0);
    for args in [&["publish", "fager", "out"][..], &["publish", "fager", "out", "--dry-run"]] {
        let ran = work.run(args).expect(2);
        assert!(ran.stderr.contains("a publication of qwen-image-bench"), "{}", ran.stderr);
    }
    work.run(&["publish", "fager", "of-fager"]).expect(0);
    let card = std::fs::read_to_string(work.path("of-fager/README.md")).unwrap();
    assert!(card.contains("`Sample/real/details.jsonl`") || card.contains("`real/details.jsonl`"), "{card}");
    // Not into a snapshot of the lake; but into what a publishing left that was cut short.
    let ran = work.run(&["publish", QWEN, &format!("lake/snapshots/{QWEN}/{strict}")]).expect(2);
    assert!(ran.stderr.contains("a snapshot of a lake"), "{}", ran.stderr);
    work.run(&["snapshot", "verify"]).expect(0);
    std::fs::remove_file(work.path("out/manifest.json")).unwrap();
    std::fs::remove_file(work.path("out/README.md")).unwrap();
    work.run(&["publish", QWEN, "out"]).expect(0);
    check(&work, &tree(&work.path("out")));
    let id = work.latest("official");
    if let Some(s3) = S3::start() {
        let lake = work.path("lake");
        let mut command = s3.command(&work, &["publish", QWEN, "s3://bucket/boards/qwen"]);
        super::s3::ran(command.env("SCORELAKE_LAKE", &lake)).expect(0);
        check(&work, &tree(&s3.kept("boards/qwen")));
    }
    work.write(&format!("lake/snapshots/{QWEN}/{id}/ledger.parquet"), "x");
    let ran = work.run(&["publish", QWEN, "elsewhere"]).expect(1);
    assert!(ran.stderr.contains("not as it was published") && !work.path("elsewhere").exists(), "{}", ran.stderr);
}

/// The hub's protocol of a commit: it is asked which files go inline, then gets all in one commit.
fn hub(request: &Request) -> Reply {
    let json = |status, value: Value| {
        Reply::Whole(status, vec![("Content-Type".into(), "application/json".into())], value.to_string().into_bytes())
    };
    if request.header("authorization") != Some("Bearer hf_write") {
        return json(403, json!({"error": "this token may not write"}));
    }
    if request.path.starts_with("/api/datasets/o/n/preupload/main") {
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        let files = asked["files"].as_array().unwrap().iter();
        let files: Vec<Value> =
            files.map(|file| json!({"path": file["path"], "uploadMode": "regular", "shouldIgnore": false})).collect();
        return json(200, json!({"files": files}));
    }
    if request.path.starts_with("/api/datasets/o/n/commit/main") {
        return json(
            200,
            json!({"success": true, "commitOid": "abc", "commitUrl": "https://hub/datasets/o/n/commit/abc"}),
        );
    }
    json(404, json!({"error": "Repository not found"}))
}

#[test]
fn to_the_hub_in_one_commit() {
    let work = scored();
    let server = Server::start(|request, _| hub(request));
    let run = |args: &[&str], token: Option<&str>| {
        let mut command = work.command(args);
        without_credentials(&mut command, &work);
        command.env("HF_ENDPOINT", &server.endpoint).env("HF_HOME", work.path("hf"));
        if let Some(token) = token {
            command.env("HF_TOKEN", token);
        }
        ran(command)
    };
    let args = ["publish", QWEN, "hf://datasets/o/n/boards"];
    run(&["publish", QWEN, "hf://datasets/o/n", "--dry-run"], None).expect(0);
    assert_eq!(server.asked(), Vec::<String>::new());
    let ran = run(&args, None).expect(2);
    assert!(ran.stderr.contains("needs a token") && ran.stderr.contains("HF_TOKEN"), "{}", ran.stderr);
    let ran = run(&args, Some("hf_read")).expect(1);
    assert!(ran.stderr.contains("this token may not write") && !ran.stderr.contains("hf_read"), "{}", ran.stderr);
    let ran = run(&["publish", QWEN, "hf://datasets/o/other"], Some("hf_write")).expect(1);
    assert!(ran.stderr.contains("hf repo create o/other"), "{}", ran.stderr);
    server.forget();
    let ran = run(&args, Some("hf_write")).expect(0);
    assert!(ran.stderr.contains("committed to o/n: https://hub/datasets/o/n/commit/abc"), "{}", ran.stderr);
    let commits: Vec<Request> = server.requests().into_iter().filter(|r| r.path.contains("/commit/")).collect();
    assert_eq!(commits.len(), 1);
    let lines = commits[0].body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut lines = lines.map(|line| serde_json::from_slice::<Value>(line).unwrap());
    assert!(lines.next().unwrap()["value"]["summary"].as_str().unwrap().contains(&work.latest("official")));
    let published: Vec<(String, Vec<u8>)> = lines
        .map(|line| {
            assert_eq!((&line["key"], &line["value"]["encoding"]), (&json!("file"), &json!("base64")));
            let path = line["value"]["path"].as_str().unwrap();
            (path.strip_prefix("boards/").unwrap().to_owned(), base64(line["value"]["content"].as_str().unwrap()))
        })
        .collect();
    check(&work, &published);
    for target in
        ["hf://models/o/n", "hf://datasets/o", "hf://datasets/o/n/../x", "https://hub/o/n", "hf://datasets/o/n@/x"]
    {
        let ran = run(&["publish", QWEN, target], Some("hf_write")).expect(2);
        assert!(ran.stderr.contains("hint: "), "{target}: {}", ran.stderr);
    }
    assert!(!Path::new(&work.path("hf/hub")).exists() || tree(&work.path("hf")).is_empty());
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::new();
    let (mut held, mut bits) = (0_u32, 0);
    for byte in text.bytes().filter(|byte| *byte != b'=') {
        held = held << 6 | u32::try_from(DIGITS.iter().position(|digit| *digit == byte).unwrap()).unwrap();
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((held >> bits & 255) as u8);
        }
    }
    out
}
