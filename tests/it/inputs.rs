//! Inputs from the web, from buckets and out of archives: streamed, gone on with where they were cut, and refused where they lead outside.

use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::s3::{S3, ran, without_credentials};
use super::server::{Reply, Request, Server};
use super::util::{Ran, Workdir, line, tree};

const QWEN: &str = "qwen-image-bench";

fn replies(ids: std::ops::Range<u32>) -> Vec<u8> {
    let verdict = r#"{"Realism":{"Physical Logic":{"score":2}}}"#;
    let reply = |id| {
        line(
            id,
            "Quality / Realism / Physical Logic",
            &[("m", json!("m/1.png")), ("quality_response_m", json!(verdict))],
        )
    };
    ids.map(reply).collect::<String>().into_bytes()
}

fn tagged(tag: &str) -> Vec<(String, String)> {
    vec![("ETag".into(), format!("\"{tag}\"")), ("Accept-Ranges".into(), "bytes".into())]
}

/// A file by range, as web servers give it.
fn ranged(request: &Request, content: &[u8], tag: &str) -> Reply {
    match request.offset() {
        Some(offset) => {
            let mut headers = tagged(tag);
            let end = content.len() - 1;
            headers.push(("Content-Range".into(), format!("bytes {offset}-{end}/{}", content.len())));
            Reply::Whole(206, headers, content[offset..].to_vec())
        }
        None => Reply::Whole(200, tagged(tag), content.to_vec()),
    }
}

fn command(work: &Workdir, args: &[&str]) -> Command {
    let mut command = work.command(args);
    without_credentials(&mut command, work);
    command
}

fn run(work: &Workdir, args: &[&str]) -> Ran {
    ran(command(work, args))
}

fn records(work: &Workdir) -> u64 {
    let sources = work.json(&["lake", "info", QWEN, "--sources"]);
    sources.as_array().unwrap().iter().map(|source| source["records"].as_u64().unwrap()).sum()
}

/// E01 of the web: a connection cut half-way is gone on with at the byte where it ended, not begun again.
#[test]
fn e01_a_cut_file_of_the_web_is_gone_on_with() {
    let work = Workdir::new();
    let content = replies(1..2000);
    let (sent, half) = (content.clone(), content.len() / 2);
    let server = Server::start(move |request, before| match (request.method.as_str(), before) {
        // The first reading, for the digest, is cut twice.
        ("GET", 1) => Reply::Cut(200, tagged("a"), sent.clone(), half),
        ("GET", 2) => {
            let mut headers = tagged("a");
            headers.push(("Content-Range".into(), format!("bytes {half}-{}/{}", sent.len() - 1, sent.len())));
            Reply::Cut(206, headers, sent[half..].to_vec(), 1000)
        }
        _ => ranged(request, &sent, "a"),
    });
    let url = format!("{}/dir/r.jsonl", server.endpoint);
    let ran = run(&work, &["run", QWEN, &url]).expect(0);
    assert!(ran.stderr.contains(&format!("added {url}")), "{}", ran.stderr);
    assert_eq!(records(&work), 1999);
    let offsets: Vec<_> = server.requests().iter().filter_map(Request::offset).collect();
    assert_eq!(offsets, [half, half + 1000]);
    // Known content is not read into the lake again, and the same file from disk is the same content.
    let again = run(&work, &["ingest", QWEN, &url]).expect(0);
    assert!(again.stderr.contains("unchanged"), "{}", again.stderr);
    let file = work.write("r.jsonl", &content);
    assert!(work.run(&["ingest", QWEN, &file]).expect(0).stderr.contains("the same content as"));
}

/// E03, E16: a server that limits is heard, and one that refuses is quoted; a file that changes meanwhile is no file.
#[test]
fn servers_that_refuse_are_quoted() {
    let work = Workdir::new();
    let content = replies(1..50);
    let server = Server::start(move |request, before| {
        let json = |status, text: &str| Reply::Whole(status, Vec::new(), text.as_bytes().to_vec());
        match (request.path.as_str(), request.method.as_str(), before) {
            ("/busy.jsonl", "GET", 0) => {
                Reply::Whole(429, vec![("Retry-After".into(), "2".into())], b"slow down".to_vec())
            }
            ("/full.jsonl", _, _) => Reply::Whole(429, vec![("Retry-After".into(), "4000".into())], Vec::new()),
            ("/private.jsonl", _, _) => json(403, r#"{"message": "the terms are not accepted"}"#),
            ("/none.jsonl", _, _) => json(404, "not here\n"),
            // HEAD is not answered, as of signed URLs.
            ("/get.jsonl?X-Amz-Signature=deadbeef&download=true", "HEAD", _) => json(403, ""),
            ("/other.jsonl", "GET", 1..) => ranged(request, &content[..100], "b"),
            _ => ranged(request, &content, "a"),
        }
    });
    let url = |path: &str| format!("{}{path}", server.endpoint);
    let start = Instant::now();
    run(&work, &["ingest", QWEN, &url("/busy.jsonl")]).expect(0);
    assert!(start.elapsed() >= Duration::from_secs(2));
    for (path, told) in [
        ("/full.jsonl", "the server limits how often it may be asked: 429"),
        ("/private.jsonl", "the server says: the terms are not accepted"),
        ("/none.jsonl", "the server says: not here"),
        ("/other.jsonl", "the file changed while it was read"),
    ] {
        let start = Instant::now();
        let ran = run(&work, &["ingest", QWEN, &url(path)]).expect(1);
        assert!(ran.stderr.contains(told) && ran.stderr.contains(path), "{path}: {}", ran.stderr);
        assert!(start.elapsed() < Duration::from_secs(5), "{path}");
    }
    // Two failures, then an answer; and a table whose name has a question behind it.
    let table = Server::start(move |_, before| match before {
        0 => Reply::Whole(503, Vec::new(), Vec::new()),
        _ => Reply::Whole(
            200,
            tagged("t"),
            b"name,mos_quality,std_quality,mos_align,std_align,prompt,adj1,adj2,style\n".to_vec(),
        ),
    });
    let ran = run(&work, &["ingest", "agiqa-3k", &format!("{}/data.csv?download=true", table.endpoint)]).expect(1);
    assert!(ran.stderr.contains("no records: the file is empty"), "{}", ran.stderr);
    // A signature is in no message, manifest or record of a run.
    let signed = url("/get.jsonl?X-Amz-Signature=deadbeef&download=true");
    let ran = run(&work, &["run", QWEN, &signed]).expect(0);
    assert!(ran.stderr.contains("/get.jsonl?X-Amz-Signature=…&download=true"), "{}", ran.stderr);
    for (name, bytes) in tree(&work.path("lake")) {
        assert!(!String::from_utf8_lossy(&bytes).contains("deadbeef"), "{name}");
    }
    let ran = run(&work, &["ingest", QWEN, "http://127.0.0.1:9/x.jsonl?token=deadbeef"]).expect(1);
    assert!(ran.stderr.contains("the server cannot be read") && !ran.stderr.contains("deadbeef"), "{}", ran.stderr);
    assert_eq!(
        run(&work, &["ingest", QWEN, "file:///nowhere/x.jsonl"]).expect(1).stderr.matches("no such file").count(),
        1
    );
    let file = work.write("r.jsonl", replies(1..3));
    run(&work, &["ingest", QWEN, &format!("file://{file}")]).expect(0);
}

/// An object, all data below a prefix, and globs over keys.
#[test]
fn objects_prefixes_and_globs() {
    let Some(s3) = S3::start() else { return };
    let work = Workdir::new();
    let put = |key: &str, bytes: &[u8]| {
        let path = s3.kept(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    put("in/a/one.jsonl", &replies(1..10));
    put("in/a/two.jsonl", &replies(10..20));
    put("in/b/three.jsonl", &replies(20..30));
    put("in/b/readme.txt", b"no data");
    put("in/.hidden/four.jsonl", &replies(30..40));
    put("in/odd #name?.jsonl", &replies(40..45));
    for (input, sources, count) in [
        ("s3://bucket/in/a/one.jsonl", 1, 9),
        ("s3://bucket/in/a", 2, 19),
        ("s3://bucket/in/*/t*.jsonl", 2, 20),
        ("s3://bucket/in/**/*.jsonl", 4, 34),
        ("s3://bucket/in/odd #name?.jsonl", 1, 5),
        ("s3://bucket/in/", 4, 34),
    ] {
        let work = Workdir::new();
        let mut command = s3.command(&work, &["ingest", QWEN, input]);
        let ran = ran(command.env("SCORELAKE_LAKE", work.path("lake"))).expect(0);
        let listed = work.json(&["lake", "info", QWEN, "--sources"]);
        assert_eq!(listed.as_array().unwrap().len(), sources, "{input}: {}", ran.stderr);
        assert_eq!(records(&work), count, "{input}");
    }
    for (input, told) in [
        ("s3://bucket/nothing.jsonl", "no such object, and none below it"),
        ("s3://bucket/in/x*.jsonl", "the glob matches nothing"),
        ("s3://nobucket/in/x.jsonl", "no such"),
    ] {
        let ran = s3.run(&work, &["ingest", QWEN, input]).expect(1);
        assert!(ran.stderr.contains(told), "{input}: {}", ran.stderr);
    }
    // The lake has it once, whatever it is called.
    s3.run(&work, &["run", QWEN, "s3://bucket/in/a", "s3://bucket/in/a/one.jsonl", "-q"]).expect(0);
    let ran = s3.run(&work, &["run", QWEN, "s3://bucket/in/a/*"]).expect(0);
    assert!(ran.stderr.contains("unchanged s3://bucket/in/a/one.jsonl"), "{}", ran.stderr);
    put("in/a/one.jsonl", &replies(1..9));
    let ran = s3.run(&work, &["run", QWEN, "s3://bucket/in/a"]).expect(0);
    assert!(ran.stderr.contains("replaced s3://bucket/in/a/one.jsonl"), "{}", ran.stderr);
}

/// A tar of these entries; names as they are given, however odd.
pub(crate) fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = Vec::new();
    for (name, content) in entries {
        let mut header = [0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", content.len()).as_bytes());
        // A link is told by its name here: it points to a file of this machine.
        let is_link = name.ends_with("link.jsonl");
        header[156] = if name.ends_with("pax_global_header") {
            b'g'
        } else if is_link {
            b'2'
        } else {
            b'0'
        };
        if is_link {
            header[157..157 + 11].copy_from_slice(b"/etc/passwd");
        }
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        tar.extend(header);
        tar.extend(*content);
        tar.resize(tar.len().div_ceil(512) * 512, 0);
    }
    tar.extend([0; 1024]);
    tar
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Members of an archive on disk and on the web are read like the files of a directory; one alone by its name.
#[test]
fn members_of_archives() {
    let work = Workdir::new();
    let (one, two) = (replies(1..10), replies(10..15));
    let tar = archive(&[
        ("run/one.jsonl", &one),
        ("run/deep/two.jsonl", &two),
        ("run/image.png", b"no data"),
        ("run/link.jsonl", b""),
        ("./run/.hidden.jsonl", &two),
    ]);
    let file = work.write("answers.tar.gz", gzip(&tar));
    let ran = work.run(&["run", QWEN, &file, "-v"]).expect(0);
    assert!(
        ran.stderr.contains("answers.tar.gz!/run/deep/two.jsonl") && ran.stderr.contains("passed over"),
        "{}",
        ran.stderr
    );
    assert_eq!(records(&work), 14);
    let other = Workdir::new();
    let plain = other.write("answers.tar", &tar);
    other.run(&["ingest", QWEN, &format!("{plain}!/run/*.jsonl"), "-q"]).expect(0);
    assert_eq!(records(&other), 9);
    let ran = other.run(&["ingest", QWEN, &format!("{plain}!/run/three.jsonl")]).expect(1);
    assert!(ran.stderr.contains("the archive has no such member"), "{}", ran.stderr);
    // The size of the whole is not told, as of archives that a server makes while it sends them.
    let packed = gzip(&tar);
    let server =
        Server::start(move |_, _| Reply::Raw([&b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"[..], &packed].concat()));
    let web = Workdir::new();
    run(&web, &["ingest", QWEN, &format!("{}/answers.tgz", server.endpoint), "-q"]).expect(0);
    assert_eq!(records(&web), 14);
    let ran = run(&web, &["ingest", QWEN, &format!("{}/answers.jsonl", server.endpoint)]).expect(1);
    assert!(ran.stderr.contains("does not say how large"), "{}", ran.stderr);
    let damaged = work.write("cut.tar.gz", &gzip(&tar)[..200]);
    let ran = work.run(&["ingest", QWEN, &damaged]).expect(1);
    assert!(ran.stderr.contains("the archive cannot be read on"), "{}", ran.stderr);
    let empty = work.write("empty.tar", archive(&[("a.png", b"x")]));
    assert!(work.run(&["ingest", QWEN, &empty]).expect(1).stderr.contains("the archive holds no .jsonl"));
}

/// S10: an entry that leaves the archive's root is refused by its name, and nothing is written anywhere.
#[test]
fn s10_entries_that_lead_outside() {
    let content = replies(1..3);
    for name in ["../../evil.jsonl", "/etc/evil.jsonl", "a/../../evil.jsonl", "..\\evil.jsonl", "C:\\evil.jsonl"] {
        let work = Workdir::new();
        let file = work.write("in/evil.tar", archive(&[("fine.jsonl", &content), (name, &content)]));
        let temp = work.path("in/tmp");
        std::fs::create_dir(&temp).unwrap();
        let mut command = work.command(&["ingest", QWEN, &file]);
        let ran = ran(command.env("TMPDIR", &temp)).expect(1);
        assert!(ran.stderr.contains("leaves its root"), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains(&name.escape_debug().to_string()), "{name}: {}", ran.stderr);
        let there: Vec<String> = tree(&work.path("")).into_iter().map(|(name, _)| name).collect();
        assert!(!there.iter().any(|name| name.contains("evil.jsonl")), "{there:?}");
        assert_eq!(tree(&temp).len(), 0);
        let sources: Value = work.json(&["lake", "info", "--sources"]);
        assert_eq!(sources, json!([]));
    }
}
