//! Faults that were found once in stores, inputs from elsewhere and publishing.

use std::time::{Duration, Instant};

use scorelake::store::redact;
use serde_json::{Value, json};

use super::inputs::{archive, gzip};
use super::s3::{S3, ran, without_credentials};
use super::server::{Reply, Server};
use super::util::{Ran, Workdir, line, tree};

const QWEN: &str = "qwen-image-bench";

fn reply(id: u32, score: u32) -> String {
    let verdict = format!(r#"{{"Realism":{{"Physical Logic":{{"score":{score}}}}}}}"#);
    line(id, "Quality / Realism / Physical Logic", &[("m", json!("m/1.png")), ("quality_response_m", json!(verdict))])
}

fn run(work: &Workdir, args: &[&str]) -> Ran {
    let mut command = work.command(args);
    without_credentials(&mut command, work);
    ran(command)
}

fn sources(work: &Workdir) -> Vec<Value> {
    work.json(&["lake", "info", QWEN, "--sources"]).as_array().unwrap().clone()
}

/// Whatever a URL holds, what proves who asks is not shown; and two that ask for different things stay two.
#[test]
fn secrets_are_taken_out_of_urls() {
    for (url, shown) in [
        ("http://h/data(v2) 1.csv?X-Amz-Signature=S", "http://h/data(v2) 1.csv?X-Amz-Signature=…"),
        ("https://TOKEN@h/x", "https://…@h/x"),
        ("https://u:p@h/x?S", "https://…@h/x?…"),
        ("https://h/x?download=true&access_token=S#S", "https://h/x?download=true&access_token=…"),
        ("https://h/x?id=0", "https://h/x?id=…5feceb66"),
        ("https://h/x?id=1", "https://h/x?id=…6b86b273"),
        ("said: https://h/x?sig=S>, and more", "said: https://h/x?sig=…>, and more"),
        ("s3://bucket/odd #name?.jsonl", "s3://bucket/odd #name?.jsonl"),
        ("abfss://container@account.dfs.core.windows.net/x", "abfss://container@account.dfs.core.windows.net/x"),
        ("s3://KEY:SECRET@bucket/x", "s3://…@bucket/x"),
        ("no url: a?b=c", "no url: a?b=c"),
    ] {
        assert_eq!(redact(url), shown);
    }
    let work = Workdir::new();
    let server = Server::start(|request, _| {
        let id = if request.path.ends_with('0') { 1 } else { 2 };
        let headers = vec![("ETag".into(), format!("\"{id}\""))];
        Reply::Whole(200, headers, reply(id, 2).into_bytes())
    });
    let url = |id: u32| format!("{}/d(1).jsonl?token=deadbeef&id={id}", server.endpoint);
    run(&work, &["ingest", QWEN, &url(0), &url(1)]).expect(0);
    assert_eq!(sources(&work).len(), 2);
    assert!(run(&work, &["run", QWEN, &url(1)]).expect(0).stderr.contains("unchanged"));
    assert_eq!(sources(&work).len(), 2);
    for (name, bytes) in tree(&work.path("lake")) {
        assert!(!String::from_utf8_lossy(&bytes).contains("deadbeef"), "{name}");
    }
}

/// A server that limits HEAD is waited for; one that gives another range, or other bytes without a name for them, gives no file.
#[test]
fn servers_that_say_one_thing_and_do_another() {
    let work = Workdir::new();
    let content: Vec<u8> = (1..400).map(|id| reply(id, 2)).collect::<String>().into_bytes();
    let (other, half) =
        (content.iter().map(|byte| if *byte == b'2' { b'1' } else { *byte }).collect::<Vec<u8>>(), content.len() / 2);
    let server = Server::start(move |request, before| match (request.path.as_str(), request.method.as_str(), before) {
        ("/limited.jsonl", "HEAD", 0) => Reply::Whole(429, vec![("Retry-After".into(), "1".into())], Vec::new()),
        ("/range.jsonl", "GET", 1) => Reply::Cut(200, Vec::new(), content.clone(), half),
        ("/range.jsonl", "GET", 2..) => {
            let range = format!("bytes 0-{}/{}", half - 1, content.len());
            Reply::Whole(206, vec![("Content-Range".into(), range)], content[..half].to_vec())
        }
        ("/nameless.jsonl", "GET", 2..) => Reply::Whole(200, Vec::new(), other.clone()),
        _ => Reply::Whole(200, Vec::new(), content.clone()),
    });
    let start = Instant::now();
    run(&work, &["ingest", QWEN, &format!("{}/limited.jsonl", server.endpoint)]).expect(0);
    assert!(start.elapsed() >= Duration::from_secs(1));
    for (path, told) in [("/range.jsonl", "another part of the file"), ("/nameless.jsonl", "changed while it was read")]
    {
        let work = Workdir::new();
        let ran = run(&work, &["ingest", QWEN, &format!("{}{path}", server.endpoint)]).expect(1);
        assert!(ran.stderr.contains(told), "{path}: {}", ran.stderr);
    }
}

/// The store wrote the manifest and its answer was lost: the client asks again, is refused, and what it wrote is what it wanted.
#[test]
fn an_answer_that_was_lost() {
    let Some(s3) = S3::start() else { return };
    let work = Workdir::new();
    let (first, second) = (work.write("first.jsonl", reply(1, 2)), work.write("second.jsonl", reply(2, 0)));
    s3.run(&work, &["ingest", QWEN, &first, "-q"]).expect(0);
    let lose = |end: &'static str| {
        s3.lose(move |request, before| request.method == "PUT" && request.path.ends_with(end) && before == 0);
    };
    lose("datasets/qwen-image-bench/manifest.json");
    let ran = s3.run(&work, &["ingest", QWEN, &second]).expect(0);
    assert!(ran.stderr.contains(&format!("added {second}")), "{}", ran.stderr);
    lose("/LATEST-official");
    s3.run(&work, &["score", QWEN]).expect(0);
    lose("datasets/qwen-image-bench/manifest.json");
    let ran = s3.run(&work, &["lake", "drop-source", QWEN, "second.jsonl"]).expect(0);
    assert!(ran.stderr.contains("dropped "), "{}", ran.stderr);
    lose("/manifest.json");
    let ran = s3.run(&work, &["score", QWEN]).expect(0);
    assert!(!ran.stderr.contains("one that was there"), "{}", ran.stderr);
}

/// A store that refuses to give what it has is no broken snapshot, and its words are told.
#[test]
fn refusals_are_no_corruption() {
    let Some(s3) = S3::start() else { return };
    let work = Workdir::new();
    let file = work.write("r.jsonl", reply(1, 2));
    s3.run(&work, &["run", QWEN, &file, "-q"]).expect(0);
    s3.fail(|request, _| {
        let body = b"<Error><Code>AccessDenied</Code><Message>not for you</Message></Error>".to_vec();
        let is_parquet = request.method == "GET" && request.path.contains(".parquet");
        is_parquet.then(|| Reply::Whole(403, vec![("Content-Type".into(), "application/xml".into())], body))
    });
    for args in [
        &["snapshot", "verify"][..],
        &["show", QWEN],
        &["sql", "SELECT count(*) AS n, max(text) FROM qwen_image_bench.responses"],
        &["score", QWEN],
        &["publish", QWEN, "out"],
    ] {
        let ran = s3.run(&work, &[args, &["--format", "json"]].concat()).expect(1);
        let error: Value =
            serde_json::from_str(&ran.stderr).unwrap_or_else(|e| panic!("{args:?}: {e}: {}", ran.stderr));
        assert_eq!(error["kind"], "network", "{args:?}: {error}");
        assert!(error["error"].as_str().unwrap().contains("not for you"), "{args:?}: {error}");
    }
}

/// Names that are globs to some are names first; archives come from everywhere; a refused one gives nothing.
#[test]
fn names_archives_and_globs() {
    let work = Workdir::new();
    let (one, two) = (reply(1, 2), reply(2, 0));
    let tar = archive(&[("a/data[1].jsonl", one.as_bytes()), ("a/data1.jsonl", two.as_bytes())]);
    let file = work.write("in/x1.tar", &tar);
    work.write("in/x2.tar", archive(&[("b.jsonl", reply(3, 1).as_bytes())]));
    run(&work, &["ingest", QWEN, &format!("{file}!/a/data[1].jsonl")]).expect(0);
    assert!(sources(&work)[0]["uris"].as_str().unwrap().ends_with("!/a/data[1].jsonl"));
    run(&work, &["ingest", QWEN, &work.path("in/x*.tar").to_string_lossy()]).expect(0);
    assert_eq!(sources(&work).len(), 3);
    let evil =
        work.write("evil.tar", archive(&[("fine.jsonl", reply(4, 1).as_bytes()), ("../evil.jsonl", one.as_bytes())]));
    let ran = run(&work, &["ingest", QWEN, &evil, &file, "--on-error", "reject"]).expect(3);
    assert!(ran.stderr.contains("leaves its root") && !ran.stderr.contains("fine.jsonl"), "{}", ran.stderr);
    let (packed, commit) = (gzip(&tar), "30ded2bed96fc78070636548e811ece37e5d8f66");
    let hub = Server::start(move |_, _| {
        let headers = vec![("ETag".into(), "\"x\"".into()), ("X-Repo-Commit".into(), commit.into())];
        Reply::Whole(200, headers, packed.clone())
    });
    let other = Workdir::new();
    let mut command = other.command(&["ingest", QWEN, "hf://datasets/o/n/runs.tar.gz!/a/data1.jsonl"]);
    without_credentials(&mut command, &other);
    ran_with(&mut command, &hub.endpoint, &other).expect(0);
    let listed = sources(&other);
    assert_eq!(
        (&listed[0]["uris"], &listed[0]["revision"]),
        (&json!("hf://datasets/o/n/runs.tar.gz!/a/data1.jsonl"), &json!(commit))
    );
    let Some(s3) = S3::start() else { return };
    for name in ["in/data[1].jsonl", "in/data1.jsonl"] {
        std::fs::create_dir_all(s3.kept("in")).unwrap();
        std::fs::write(s3.kept(name), reply(1, 2)).unwrap();
    }
    let ran = s3.run(&work, &["ingest", QWEN, "s3://bucket/in/data[1].jsonl"]).expect(0);
    assert_eq!(ran.stderr.matches("s3://bucket/").count(), 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("added s3://bucket/in/data[1].jsonl"), "{}", ran.stderr);
}

fn ran_with(command: &mut std::process::Command, endpoint: &str, work: &Workdir) -> Ran {
    ran(command.env("HF_ENDPOINT", endpoint).env("HF_HOME", work.path("hf")))
}

/// A beginning of another file in the hub's cache is none of this one.
#[test]
fn a_beginning_of_another_file_stays_what_it_is() {
    let work = Workdir::new();
    work.write("hf/hub/datasets--o--n/blobs/aaaa.incomplete", "the beginning of another file");
    let content = reply(1, 2);
    let sent = content.clone();
    let hub = Server::start(move |request, before| {
        let headers = |range: Option<String>| {
            let mut all = vec![("ETag".into(), "\"bbbb\"".into()), ("X-Repo-Commit".into(), "3".repeat(40))];
            all.extend(range.map(|range| ("Content-Range".into(), range)));
            all
        };
        match (request.method.as_str(), request.offset(), before) {
            ("GET", None, 0) => Reply::Whole(503, Vec::new(), Vec::new()),
            ("GET", Some(at), _) => {
                let range = format!("bytes {at}-{}/{}", sent.len() - 1, sent.len());
                Reply::Whole(206, headers(Some(range)), sent.as_bytes()[at..].to_vec())
            }
            _ => Reply::Whole(200, headers(None), sent.clone().into_bytes()),
        }
    });
    let mut command = work.command(&["ingest", QWEN, "hf://datasets/o/n/x.jsonl"]);
    without_credentials(&mut command, &work);
    ran_with(&mut command, &hub.endpoint, &work).expect(0);
    let blobs = tree(&work.path("hf/hub/datasets--o--n/blobs"));
    let names: Vec<&str> = blobs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, &blobs[1].1), (vec!["aaaa.incomplete", "bbbb"], &content.into_bytes()));
}

/// S16: manifests of a stranger name files in their folders, or nothing.
#[test]
fn s16_manifests_that_lead_outside() {
    let work = Workdir::new();
    let file = work.write("r.jsonl", reply(1, 2));
    work.run(&["run", QWEN, &file, "-q"]).expect(0);
    let lake = work.path(&format!("lake/datasets/{QWEN}/manifest.json"));
    let snapshot = work.path(&format!("lake/snapshots/{QWEN}/{}/manifest.json", work.latest("official")));
    for (manifest, from, to, args) in [
        (&lake, "\"file\": \"", "\"file\": \"../../../", &["lake", "copy", "out/a/copy"][..]),
        (&snapshot, "\"file\": \"", "\"file\": \"../../../", &["publish", QWEN, "out/a/b"]),
        (&lake, "\"responses\": [", "\"../../x\": [", &["lake", "info"]),
    ] {
        let text = std::fs::read_to_string(manifest).unwrap();
        std::fs::write(manifest, text.replace(from, to)).unwrap();
        let ran = work.run(args).expect(1);
        assert!(ran.stderr.contains("names a file outside of its folder"), "{args:?}: {}", ran.stderr);
        std::fs::write(manifest, text).unwrap();
    }
    assert!(!work.path("out").join("evil").exists());
    // A folder that is there and is no lake is no lake for `check` either.
    work.write("thesis/chapter.txt", "x");
    let ran = work.run(&["check", "--lake", "thesis"]).expect(1);
    assert!(ran.stderr.contains("no lake here"), "{}", ran.stderr);
}

/// A store that fails once is asked again, on whatever thread the question came from.
#[test]
fn a_store_that_fails_once_is_asked_again() {
    let Some(s3) = S3::start() else { return };
    let work = Workdir::new();
    let file = work.write("r.jsonl", reply(1, 2));
    s3.run(&work, &["run", QWEN, &file, "-q"]).expect(0);
    for args in [
        &["score", QWEN][..],
        &["sql", "SELECT max(text) AS t FROM qwen_image_bench.responses"],
        &["compare", QWEN, "--all"],
    ] {
        s3.fail(|request, before| {
            (request.method == "GET" && before == 0).then(|| Reply::Whole(503, Vec::new(), b"slow down".to_vec()))
        });
        let ran = s3.run(&work, args);
        assert!(ran.code == 0 || ran.stderr.contains("two models"), "{args:?}: {} {}", ran.code, ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{args:?}: {}", ran.stderr);
    }
}

/// Parts that a hasty `lake gc` removes while their writer is about to name them are put again.
#[test]
fn a_hasty_gc_breaks_nothing() {
    let Some(s3) = S3::start() else { return };
    let work = Workdir::new();
    let (first, second) = (work.write("first.jsonl", reply(1, 2)), work.write("second.jsonl", reply(2, 0)));
    s3.run(&work, &["run", QWEN, &first, "-q"]).expect(0);
    let hasty = std::sync::Mutex::new(Some(s3.command(&work, &["lake", "gc", "--older-than", "0s"])));
    s3.fail(move |request, _| {
        let is_swap = request.method == "PUT" && request.path.ends_with("datasets/qwen-image-bench/manifest.json");
        let gc = is_swap.then(|| hasty.lock().unwrap().take()).flatten();
        if let Some(gc) = gc {
            let ran = ran(gc);
            assert!(ran.stderr.contains("removed") && ran.stderr.contains("younger files may be"), "{}", ran.stderr);
        }
        None
    });
    s3.run(&work, &["ingest", QWEN, &second, "-q"]).expect(0);
    s3.mend();
    s3.run(&work, &["score", QWEN, "-q"]).expect(0);
    s3.run(&work, &["snapshot", "verify"]).expect(0);
}

/// The pointer to the latest snapshot was damaged: scoring names it anew.
#[test]
fn a_damaged_pointer_is_written_anew() {
    let work = Workdir::new();
    let file = work.write("r.jsonl", reply(1, 2));
    work.run(&["run", QWEN, &file, "-q"]).expect(0);
    let id = work.latest("official");
    work.write(&format!("lake/snapshots/{QWEN}/LATEST-official"), "");
    assert!(work.run(&["show", QWEN]).expect(1).stderr.contains("score again"));
    work.run(&["score", QWEN, "-q"]).expect(0);
    assert_eq!(work.latest("official"), id);
}

/// What a compressor says of the whole archive comes last, and is heard.
#[test]
fn damaged_archives_are_refused() {
    let work = Workdir::new();
    let whole = gzip(&archive(&[("r.jsonl", reply(1, 2).as_bytes())]));
    let mut damaged = whole.clone();
    let end = damaged.len();
    damaged[end - 6] ^= 1;
    for (name, bytes) in [("crc.tar.gz", &damaged[..]), ("short.tar.gz", &whole[..end - 8])] {
        let file = work.write(name, bytes);
        let ran = work.run(&["ingest", QWEN, &file]).expect(1);
        assert!(ran.stderr.contains("the archive cannot be read on"), "{name}: {}", ran.stderr);
    }
    // A server that says back what it was asked for says no secret back.
    let server = Server::start(|request, _| Reply::Whole(404, Vec::new(), request.path.clone().into_bytes()));
    let ran = run(&work, &["ingest", QWEN, &format!("{}/x.jsonl?sig=deadbeef", server.endpoint)]).expect(1);
    assert!(ran.stderr.contains("the server says: /x.jsonl") && !ran.stderr.contains("deadbeef"), "{}", ran.stderr);
    for url in ["s3://KEY:deadbeef@bucket/x.jsonl", "s3://bucket//x.jsonl", "s3:/bucket/x.jsonl"] {
        let ran = run(&work, &["ingest", QWEN, url]).expect(2);
        assert!(ran.stderr.contains("error: ") && !ran.stderr.contains("deadbeef"), "{url}: {}", ran.stderr);
    }
    let ran = run(&work, &["export", QWEN, "--xlsx", "s3://bucket/t.xlsx"]).expect(2);
    assert!(ran.stderr.contains("a path of this machine"), "{}", ran.stderr);
}
