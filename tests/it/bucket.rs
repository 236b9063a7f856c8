//! A lake in a bucket of a real S3 server: the same bytes as on disk, two writers, kills, leftovers, and what is said where it cannot be reached.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::s3::{S3, SECRET, ran, without_credentials};
use super::server::{Reply, Request};
use super::util::{Workdir, line, project, tree};

const QWEN: &str = "qwen-image-bench";

fn samples() -> String {
    project().join("data/samples/qwen-image-bench").to_string_lossy().into_owned()
}

fn reply(id: u32, model: &str, score: u32) -> String {
    let verdict = format!(r#"{{"Realism":{{"Physical Logic":{{"score":{score}}}}}}}"#);
    let (image, key) = (format!("{model}/1.png"), format!("quality_response_{model}"));
    line(id, "Quality / Realism / Physical Logic", &[(model, json!(image)), (key.as_str(), json!(verdict))])
}

fn rows(s3: &S3, work: &Workdir, args: &[&str]) -> Vec<Value> {
    let all = [args, &["--format", "json"]].concat();
    let ran = s3.run(work, &all).expect(0);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.stdout))
}

fn is_put(request: &Request, end: &str) -> bool {
    request.method == "PUT" && request.path.ends_with(end)
}

/// Every command works on a lake in a bucket, and what it publishes is byte for byte what a lake on disk gets.
#[test]
fn the_same_bytes_as_on_disk() {
    let Some(s3) = S3::start() else { return };
    let work = Workdir::new();
    let args = ["run", QWEN, &samples(), "--intervals", "default"];
    let on_disk = work.run(&args).expect(0);
    let in_bucket = s3.run(&work, &args).expect(0);
    assert_eq!(on_disk.stdout, in_bucket.stdout);
    let id = work.latest("official");
    let folder = format!("snapshots/{QWEN}");
    assert_eq!(tree(&work.path("lake").join(&folder)), tree(&s3.kept(&format!("lake/{folder}"))));
    // Again: nothing new, the same snapshot.
    let again = s3.run(&work, &args).expect(0);
    assert!(again.stderr.contains("unchanged") && again.stderr.contains("the same as one that was there"));
    for args in [
        &["show", QWEN, "by_pillar", "--format", "csv"][..],
        &["compare", QWEN, "--all", "--format", "csv"],
        &["sql", "--query", "facets_that_separate", "--format", "csv"],
        &["snapshot", "verify", "--format", "csv"],
        &["snapshot", "ls", "--format", "csv"],
        &["check", "--format", "csv"],
    ] {
        let (here, there) = (work.run(args).expect(0), s3.run(&work, args).expect(0));
        assert_eq!(here.stdout, there.stdout, "{args:?}");
    }
    s3.run(&work, &["export", QWEN, "--json", "board.json"]).expect(0);
    s3.run(&work, &["score", QWEN, "--engine", "polars"]).expect(0);
    let strict = s3.run(&work, &["score", QWEN, "--protocol", "strict"]).expect(0);
    assert!(strict.stderr.contains("(strict, "), "{}", strict.stderr);
    s3.run(&work, &["snapshot", "diff", QWEN, &format!("{QWEN}@strict")]).expect(0);
    let info = rows(&s3, &work, &["lake", "info", QWEN]);
    assert!(info.iter().any(|row| row["table"] == "judgments"), "{info:?}");
    // Nothing of the lake is on this machine, but work that is not done.
    assert_eq!(tree(&work.path("cache")).len(), 0, "{:?}", tree(&work.path("cache")));
    assert!(s3.run(&work, &["show", &format!("{QWEN}@{}", &id[..8])]).expect(0).stdout.contains("GPT Image"));
}

/// Columns that a question does not need are not fetched, and what was fetched once is not fetched again.
#[test]
fn parquet_is_read_by_range() {
    let Some(s3) = S3::start() else { return };
    let work = Workdir::new();
    let synth = ["synth", QWEN, "--rows", "250", "--models", "3", "--think-chars", "6000", "-o", "big.jsonl"];
    work.run(&synth).expect(0);
    s3.run(&work, &["ingest", QWEN, "big.jsonl", "-q"]).expect(0);
    let parts = tree(&s3.kept(&format!("lake/datasets/{QWEN}/responses")));
    let whole: usize = parts.iter().map(|(_, bytes)| bytes.len()).sum();
    assert!(whole > 1 << 20, "{whole}");
    s3.gate().forget();
    let counted = rows(&s3, &work, &["sql", "SELECT count(DISTINCT model) AS n FROM qwen_image_bench_parts.responses"]);
    assert_eq!(counted[0]["n"], json!(3));
    let asked: usize =
        s3.gate().requests().iter().filter(|request| request.path.contains("/responses/")).map(length).sum();
    assert!(asked > 0 && asked < whole * 9 / 10, "{asked} of {whole} bytes");
    // Of a model that the large part has nothing of, as its footer tells, no more than that footer is read.
    let other = work.write("other.jsonl", reply(9000, "zzz", 2));
    s3.run(&work, &["ingest", QWEN, &other, "-q"]).expect(0);
    s3.gate().forget();
    let read = rows(
        &s3,
        &work,
        &["sql", "SELECT sum(length(text)) AS n FROM qwen_image_bench_parts.responses WHERE model = 'zzz'"],
    );
    assert!(read[0]["n"].as_u64().unwrap() > 10);
    let large = &parts.iter().max_by_key(|(_, bytes)| bytes.len()).unwrap().0;
    let of_large: Vec<Request> =
        s3.gate().requests().into_iter().filter(|request| request.path.contains(large.as_str())).collect();
    assert_eq!((of_large.len(), of_large.iter().map(length).sum::<usize>()), (1, 64 << 10), "{of_large:?}");
    s3.run(&work, &["score", QWEN, "-q"]).expect(0);
    s3.gate().forget();
    s3.run(&work, &["score", QWEN, "-q"]).expect(0);
    let mut ranges: Vec<_> =
        s3.gate().requests().into_iter().filter(|request| request.path.contains(".parquet")).collect();
    ranges.retain(|request| request.method == "GET" && request.path.contains("/datasets/"));
    let mut once: Vec<String> =
        ranges.iter().map(|request| format!("{} {:?}", request.path, request.header("range"))).collect();
    let all = once.len();
    once.sort();
    once.dedup();
    // Two partitions may ask for one range at a time; every step asks for the same again.
    assert!(all > 0 && all - once.len() <= all / 5, "{all} requests, {} of them different", once.len());
}

/// Bytes that a range asks for.
fn length(request: &Request) -> usize {
    let range = request.header("range").and_then(|range| range.strip_prefix("bytes="));
    let (start, end) = range.and_then(|range| range.split_once('-')).unwrap_or(("0", "0"));
    let number = |text: &str| text.parse::<usize>().unwrap_or(0);
    (number(end) + 1).saturating_sub(number(start))
}

/// G01: another process publishes between reading the manifest and swapping it. The swap is refused, this one merges and tries again: both
/// sources are there. One that never gets through says so, and has published nothing.
#[test]
fn g01_two_writers() {
    let Some(s3) = S3::start() else { return };
    let work = Workdir::new();
    let first = work.write("first.jsonl", reply(1, "a", 2) + &reply(2, "a", 1));
    let second = work.write("second.jsonl", reply(1, "b", 0) + &reply(2, "b", 2));
    let manifest = format!("datasets/{QWEN}/manifest.json");
    let end = manifest.clone();
    let mut faster = s3.command(&work, &["ingest", QWEN, &second, "-q"]);
    let faster = std::sync::Mutex::new(Some(move || faster.status().unwrap()));
    s3.fail(move |request, _| {
        // Taken out of the lock first: the other process comes through here as well.
        let other = is_put(request, &end).then(|| faster.lock().unwrap().take()).flatten();
        if let Some(mut other) = other {
            assert!(other().success());
        }
        None
    });
    let ran = s3.run(&work, &["ingest", QWEN, &first]).expect(0);
    assert!(ran.stderr.contains("added"), "{}", ran.stderr);
    assert_eq!(s3.gate().asked().iter().filter(|asked| **asked == format!("PUT /bucket/lake/{manifest}")).count(), 3);
    s3.mend();
    let sources = rows(&s3, &work, &["lake", "info", QWEN, "--sources"]);
    assert_eq!(sources.len(), 2, "{sources:?}");
    // Both at once, several times over: whatever each is told is so.
    let third = work.write("third.jsonl", reply(3, "a", 1));
    let fourth = work.write("fourth.jsonl", reply(3, "b", 1));
    let mut both: Vec<_> = [&third, &fourth]
        .map(|file| s3.command(&work, &["run", QWEN, file, "-q"]).stdout(Stdio::null()).spawn().unwrap())
        .into();
    for child in &mut both {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(rows(&s3, &work, &["lake", "info", QWEN, "--sources"]).len(), 4);
    s3.run(&work, &["score", QWEN, "-q"]).expect(0);
    s3.run(&work, &["snapshot", "verify"]).expect(0);
    // Never: told, and nothing of it counts.
    let fifth = work.write("fifth.jsonl", reply(4, "a", 1));
    s3.fail(move |request, _| is_put(request, &manifest).then(|| Reply::Whole(412, Vec::new(), Vec::new())));
    let ran = s3.run(&work, &["ingest", QWEN, &fifth]).expect(1);
    assert!(ran.stderr.contains("other writers published"), "{}", ran.stderr);
    s3.mend();
    assert_eq!(rows(&s3, &work, &["lake", "info", QWEN, "--sources"]).len(), 4);
}

/// G01: two processes publish one snapshot at a time: one id, sound, and a table that another one put first stays.
#[test]
fn g01_one_snapshot_of_two_processes() {
    let Some(s3) = S3::start() else { return };
    let work = Workdir::new();
    s3.run(&work, &["ingest", QWEN, &samples(), "-q"]).expect(0);
    let mut both: Vec<_> =
        (0..2).map(|_| s3.command(&work, &["score", QWEN, "-q"]).stdout(Stdio::null()).spawn().unwrap()).collect();
    for child in &mut both {
        assert!(child.wait().unwrap().success());
    }
    let listed = rows(&s3, &work, &["snapshot", "ls"]);
    assert_eq!((listed.len(), &listed[0]["latest"]), (1, &json!("latest")), "{listed:?}");
    s3.run(&work, &["snapshot", "verify"]).expect(0);
    // What stands where a table is due and is no such table: an error, and no snapshot.
    let id = listed[0]["id"].as_str().unwrap().to_owned();
    let folder = s3.kept(&format!("lake/snapshots/{QWEN}/{id}"));
    std::fs::remove_file(folder.join("manifest.json")).unwrap();
    std::fs::write(folder.join("leaderboard.parquet"), "of someone else").unwrap();
    let ran = s3.run(&work, &["score", QWEN]).expect(1);
    assert!(ran.stderr.contains("a file stands where a table of this snapshot is due"), "{}", ran.stderr);
    assert_eq!(std::fs::read(folder.join("leaderboard.parquet")).unwrap(), b"of someone else");
}

/// G03: killed while its parts are there and its manifest is not, and while a snapshot is half there: what was before is as it was, what was
/// begun is ignored, and `lake gc` removes it when it is old.
#[test]
fn g03_kills() {
    let Some(s3) = S3::start() else { return };
    let work = Workdir::new();
    let first = work.write("first.jsonl", reply(1, "a", 2));
    s3.run(&work, &["run", QWEN, &first, "-q"]).expect(0);
    let before = rows(&s3, &work, &["snapshot", "ls"]);
    let board = rows(&s3, &work, &["show", QWEN]);
    let second = work.write("second.jsonl", reply(2, "a", 0));
    killed_at(&s3, s3.command(&work, &["ingest", QWEN, &second, "-q"]), &format!("datasets/{QWEN}/manifest.json"));
    assert_eq!(rows(&s3, &work, &["lake", "info", QWEN, "--sources"]).len(), 1);
    assert_eq!(tree(&s3.kept(&format!("lake/datasets/{QWEN}/judgments"))).len(), 2);
    assert_eq!(rows(&s3, &work, &["show", QWEN]), board);
    // Gone on with: the parts lie ready, and nothing is left over twice.
    s3.run(&work, &["ingest", QWEN, &second, "-q"]).expect(0);
    assert_eq!(tree(&s3.kept(&format!("lake/datasets/{QWEN}/judgments"))).len(), 2);
    killed_at(&s3, s3.command(&work, &["score", QWEN, "-q"]), "/manifest.json");
    let halves: Vec<_> = std::fs::read_dir(s3.kept(&format!("lake/snapshots/{QWEN}"))).unwrap().flatten().collect();
    assert_eq!(halves.len(), 3, "two folders and LATEST: {halves:?}");
    assert_eq!(rows(&s3, &work, &["snapshot", "ls"]), before);
    assert_eq!(rows(&s3, &work, &["show", QWEN]), board);
    s3.run(&work, &["snapshot", "verify"]).expect(0);
    // Too young to be anybody's leftover, then old enough.
    let ran = s3.run(&work, &["lake", "gc"]).expect(0);
    assert!(!ran.stderr.contains(QWEN), "{}", ran.stderr);
    let ran = s3.run(&work, &["lake", "gc", "--older-than", "0s"]).expect(0);
    assert!(ran.stderr.contains(&format!("{QWEN}: removed ")), "{}", ran.stderr);
    assert!(ran.stderr.contains("records of runs that never ended: closed 2"), "{}", ran.stderr);
    assert_eq!(rows(&s3, &work, &["show", QWEN]), board);
    s3.run(&work, &["score", QWEN, "-q"]).expect(0);
    s3.run(&work, &["snapshot", "verify"]).expect(0);
    assert_eq!(rows(&s3, &work, &["snapshot", "ls"]).len(), 2);
}

/// Kills a command when it is about to put this.
fn killed_at(s3: &S3, mut command: Command, end: &str) {
    let end = end.to_owned();
    s3.fail(move |request, _| {
        // Long after the kill, and never to the server.
        is_put(request, &end).then(|| {
            std::thread::sleep(Duration::from_secs(30));
            Reply::Whole(503, Vec::new(), Vec::new())
        })
    });
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    let wanted = |asked: &String| asked.starts_with("PUT ") && asked.ends_with("manifest.json");
    while !s3.gate().asked().iter().any(wanted) {
        assert!(
            start.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none(),
            "it never came there"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    s3.mend();
}

/// A store that writes whatever the condition is no place for a lake.
#[test]
fn stores_without_conditions_are_refused() {
    let Some(s3) = S3::start() else { return };
    let work = Workdir::new();
    let file = work.write("r.jsonl", reply(1, "a", 2));
    let is_conditional = |request: &Request| request.method == "PUT" && request.header("if-none-match").is_some();
    s3.fail(move |request, before| {
        let heedless = is_conditional(request) && before > 0;
        heedless.then(|| Reply::Whole(200, vec![("ETag".into(), "\"x\"".into())], Vec::new()))
    });
    // Each time: nothing of a lake is left by which the next run would take it for one.
    for _ in 0..2 {
        let ran = s3.run(&work, &["run", QWEN, &file]).expect(1);
        assert!(ran.stderr.contains("takes no notice of conditions"), "{}", ran.stderr);
    }
    s3.fail(|request, before| {
        let heedless = request.header("if-match").is_some() && before > 2;
        heedless.then(|| Reply::Whole(200, vec![("ETag".into(), "\"x\"".into())], Vec::new()))
    });
    s3.run(&work, &["run", QWEN, &file]).expect(1);
    assert_eq!(tree(&s3.kept("lake")).len(), 0);
}

/// To a bucket and back: every file the same; not over another lake.
#[test]
fn copies_from_and_to_a_bucket() {
    let Some(s3) = S3::start() else { return };
    let work = Workdir::new();
    work.run(&["run", QWEN, &samples(), "-q"]).expect(0);
    let to = |from: &str, to: &str| s3.run(&work, &["--lake", from, "lake", "copy", to]);
    let lake = work.path("lake").to_string_lossy().into_owned();
    let copied = to(&lake, "s3://bucket/copy").expect(0);
    assert!(copied.stderr.contains("copied "), "{}", copied.stderr);
    to("s3://bucket/copy", "back").expect(0);
    let files = |root: &std::path::Path| {
        let mut files = tree(root);
        files.retain(|(name, _)| !name.contains("/.") && !name.starts_with("runs/"));
        files
    };
    assert_eq!(files(&work.path("lake")), files(&work.path("back")));
    assert!(to(&lake, "s3://bucket/copy").expect(0).stderr.contains("0 files"));
    let other = work.write("other.jsonl", reply(1, "a", 2));
    s3.run(&work, &["--lake", "s3://bucket/other", "ingest", QWEN, &other, "-q"]).expect(0);
    let ran = to(&lake, "s3://bucket/other").expect(1);
    assert!(ran.stderr.contains("is there, and not the same"), "{}", ran.stderr);
    let ran = s3.run(&work, &["--lake", "s3://bucket/copy", "lake", "drop-source", QWEN, "responses.jsonl"]).expect(0);
    assert!(ran.stderr.contains("dropped "), "{}", ran.stderr);
    assert_eq!(rows(&s3, &work, &["--lake", "s3://bucket/copy", "lake", "info", QWEN, "--sources"]).len(), 1);
}

/// A part above the size of one request goes in pieces, and one that fails takes its pieces back.
#[test]
fn large_files_go_in_pieces() {
    let Some(s3) = S3::start() else { return };
    let work = Workdir::new();
    // What compresses badly: digits of a generator.
    let mut state = 1_u64;
    let noise: String = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:016x}", state ^ (state >> 29))
    })
    .take(2_600_000)
    .collect();
    let verdict = format!(r#"<think>{noise}</think>{{"Realism":{{"Physical Logic":{{"score":2}}}}}}"#);
    let text = line(
        1,
        "Quality / Realism / Physical Logic",
        &[("m", json!("m/1.png")), ("quality_response_m", json!(verdict))],
    );
    let file = work.write("large.jsonl", text);
    s3.fail(|request, _| {
        (request.method == "PUT" && request.path.contains("partNumber=2"))
            .then(|| Reply::Whole(400, Vec::new(), Vec::new()))
    });
    let ran = s3.run(&work, &["ingest", QWEN, &file]).expect(1);
    assert!(ran.stderr.contains("cannot write"), "{}", ran.stderr);
    assert!(s3.gate().asked().iter().any(|asked| asked.starts_with("DELETE ") && asked.contains("uploadId=")));
    s3.mend();
    s3.run(&work, &["run", QWEN, &file, "-q"]).expect(0);
    assert!(s3.gate().asked().iter().any(|asked| asked.contains("partNumber=3")));
    let text = rows(
        &s3,
        &work,
        &["sql", "SELECT length(text) AS n FROM qwen_image_bench_parts.responses WHERE text IS NOT NULL"],
    );
    assert_eq!(text[0]["n"], json!(verdict.len()));
}

/// E14: without credentials an error within seconds that lists what was looked at; profiles as the AWS tools have them; never a secret.
#[test]
fn e14_credentials() {
    let work = Workdir::new();
    let bare = |args: &[&str]| {
        let mut command = work.command(args);
        without_credentials(&mut command, &work);
        command
    };
    let file = work.write("r.jsonl", reply(1, "a", 2));
    for (args, told) in [
        (&["ingest", QWEN, "s3://bucket/x.jsonl"][..], "AWS_ACCESS_KEY_ID"),
        (&["--lake", "s3://bucket/lake", "ingest", QWEN, &file], "credentials (no such file)"),
        (&["ingest", QWEN, "gs://bucket/x.jsonl"], "GOOGLE_APPLICATION_CREDENTIALS"),
    ] {
        let mut command = bare(args);
        // An address that answers nobody, as on a machine that is in no cloud.
        command.env("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9").env("GCE_METADATA_HOST", "127.0.0.1:9");
        let start = Instant::now();
        let ran = ran(command);
        assert!(start.elapsed() < Duration::from_secs(5), "{args:?}: {:?}", start.elapsed());
        assert_ne!(ran.code, 0, "{args:?}");
        for told in [told, "no credentials were found", "metadata service"] {
            assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
        }
    }
    let profiles = format!(
        "[default]\naws_access_key_id = AKIDTEST\naws_secret_access_key = {SECRET}\n\n[sso]\nsso_session = my\n"
    );
    work.write("home/.aws/credentials", profiles);
    let Some(s3) = S3::start() else { return };
    let config = format!(
        "[default]\nregion = us-east-1\nendpoint_url = {}\ns3 =\n    addressing_style = path\n",
        s3.gate().endpoint
    );
    work.write("home/.aws/config", config);
    let made = ran(bare(&["--lake", "s3://bucket/lake", "run", QWEN, &file, "-q"])).expect(0);
    assert!(!made.stderr.contains(SECRET));
    for (profile, told) in [("nobody", "there is no AWS profile `nobody`"), ("sso", "is one of sso_session")] {
        let mut command = bare(&["--lake", "s3://bucket/lake", "show", QWEN]);
        command.env("AWS_PROFILE", profile);
        let ran = ran(command).expect(2);
        assert!(ran.stderr.contains(told) && !ran.stderr.contains(SECRET), "{}", ran.stderr);
    }
    let mut wrong = bare(&["--lake", "s3://bucket/lake", "show", QWEN]);
    wrong.env("AWS_ACCESS_KEY_ID", "AKIDTEST").env("AWS_SECRET_ACCESS_KEY", "another-secret");
    let ran = ran(wrong).expect(1);
    assert!(ran.stderr.contains("the store refuses") && !ran.stderr.contains("another-secret"), "{}", ran.stderr);
    // The end of a line that came along is no part of a value.
    let mut ended = s3.command(&work, &["show", QWEN]);
    ended.env("AWS_ACCESS_KEY_ID", "AKIDTEST\n").env("AWS_SECRET_ACCESS_KEY", format!("{SECRET}\n"));
    self::ran(ended.env("AWS_ENDPOINT_URL", format!("{}\n", s3.gate().endpoint))).expect(0);
    let nothing = s3.run(&work, &["--lake", "s3://nobucket/lake", "show", QWEN]).expect(1);
    assert!(["no lake here", "no such bucket"].iter().any(|told| nothing.stderr.contains(told)), "{}", nothing.stderr);
    for lake in ["s3://", "s3://bucket/../x", "ftp://x/y", "https://x/y", "hf://datasets/o/n"] {
        let ran = s3.run(&work, &["--lake", lake, "show", QWEN]).expect(2);
        assert!(ran.stderr.contains("s3://BUCKET/PREFIX"), "{lake}: {}", ran.stderr);
    }
}
