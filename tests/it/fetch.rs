//! `scorelake fetch` against a small server that speaks the hub's file protocol, on loopback. Nothing here touches the real network.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use scorelake::fetch::Environment;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::util::{Ran, Workdir, project};

const COMMIT: &str = "30ded2bed96fc78070636548e811ece37e5d8f66";
const OTHER: &str = "1111111111111111111111111111111111111111";

/// What the server does with a request.
enum Reply {
    /// Status, headers, body.
    Whole(u16, Vec<(String, String)>, Vec<u8>),
    /// The same with all of its length told, and only so many bytes sent.
    Cut(Vec<(String, String)>, Vec<u8>, usize),
}

type Rule = dyn Fn(&str, &str, usize) -> Reply + Send + Sync;

/// A server on a port of its own, with the requests that it got.
struct Hub {
    endpoint: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Hub {
    /// `rule` gets the method, the path and how often this very request came before.
    fn start(rule: impl Fn(&str, &str, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (rule, seen): (Arc<Rule>, _) = (Arc::new(rule), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (rule, seen) = (Arc::clone(&rule), Arc::clone(&seen));
                std::thread::spawn(move || {
                    let _gone = serve(stream, &*rule, &seen);
                });
            }
        });
        Self { endpoint, requests }
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// One request a connection.
fn serve(mut stream: TcpStream, rule: &Rule, seen: &Mutex<Vec<String>>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let mut token = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("authorization: ") {
            token = format!(" {}", value.trim());
        }
    }
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or("").to_owned());
    let request = format!("{method} {path}{token}");
    let before = {
        let mut seen = seen.lock().unwrap();
        let before = seen.iter().filter(|other| **other == request).count();
        seen.push(request.clone());
        before
    };
    let (status, headers, body, sent) = match rule(method, &path, before) {
        Reply::Whole(status, headers, body) => (status, headers, body.clone(), body.len()),
        Reply::Cut(headers, body, at) => (200, headers, body, at),
    };
    let mut head = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    for (name, value) in headers {
        let value = value.replace("{endpoint}", &format!("http://{}", stream.local_addr()?));
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all((head + "\r\n").as_bytes())?;
    if method != "HEAD" {
        stream.write_all(&body[..sent])?;
    }
    stream.flush()
}

fn headers(etag: &str) -> Vec<(String, String)> {
    vec![("ETag".into(), format!("\"{etag}\"")), ("X-Repo-Commit".into(), COMMIT.into())]
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The sample of AGIQA-3K, as if it were the pinned file.
fn content() -> Vec<u8> {
    std::fs::read(project().join("data/samples/agiqa-3k/data.csv")).unwrap()
}

/// A large file as the hub has it: `resolve` redirects to where the bytes are, and names their SHA-256.
fn redirecting(path: &str, digest: &str, content: &[u8]) -> Reply {
    if path.starts_with("/blobs/") {
        return Reply::Whole(200, Vec::new(), content.to_vec());
    }
    let mut all = headers("of-the-pointer");
    all.push(("X-Linked-Etag".into(), format!("\"{digest}\"")));
    all.push(("X-Linked-Size".into(), content.len().to_string()));
    all.push(("Location".into(), format!("{{endpoint}}/blobs/{digest}")));
    Reply::Whole(302, all, Vec::new())
}

struct Place {
    work: Workdir,
}

impl Place {
    /// A folder whose data/files.csv names one file of `o/n`.
    fn new(revision: &str, bytes: &str, digest: &str) -> Self {
        let work = Workdir::new();
        work.write(
            "assets/data/files.csv",
            format!("dataset,repo,revision,file,bytes,sha256\nagiqa-3k,o/n,{revision},data.csv,{bytes},{digest}\n"),
        );
        Self { work }
    }

    fn command(&self, endpoint: &str, further: &[&str]) -> Command {
        let args = [&["fetch", "agiqa-3k", "--assets", "assets", "--format", "json"][..], further].concat();
        let mut command = self.work.command(&args);
        for name in
            ["HF_TOKEN", "HF_HUB_OFFLINE", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_TOKEN_PATH", "http_proxy"]
        {
            command.env_remove(name);
        }
        command.env("HF_ENDPOINT", endpoint).env("HF_HOME", self.work.path("hf")).env("NO_PROXY", "127.0.0.1");
        command
    }

    fn run(&self, endpoint: &str, further: &[&str]) -> Ran {
        ran(self.command(endpoint, further))
    }
}

fn ran(mut command: Command) -> Ran {
    let output = command.output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn first_row(ran: &Ran) -> Value {
    let rows: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", ran.stdout, ran.stderr));
    rows[0].clone()
}

/// E04, E09: fetched by redirect into HF_HOME, checked, scored; then with the server gone it is there without any request.
#[test]
fn a_pinned_file_is_fetched_once() {
    let content = content();
    let digest = sha256(&content);
    let place = Place::new(COMMIT, &content.len().to_string(), &digest);
    let (sent, told) = (content.clone(), digest.clone());
    let hub = Hub::start(move |_, path, _| redirecting(path, &told, &sent));
    let ran = place.run(&hub.endpoint, &[]).expect(0);
    let row = first_row(&ran);
    assert_eq!((&row["commit"], &row["sha256"]), (&json!(COMMIT), &json!(digest)));
    assert_eq!(row["digest"], "as expected");
    let path = row["path"].as_str().unwrap().to_owned();
    assert!(path.starts_with(place.work.path("hf/hub/datasets--o--n/snapshots").to_str().unwrap()), "{path}");
    assert!(ran.stderr.contains(&format!("run agiqa-3k {path}")), "{}", ran.stderr);
    place.work.run(&["run", "agiqa-3k", &path, "-q"]).expect(0);
    let asked = hub.requests().len();
    assert!(asked >= 2, "{:?}", hub.requests());
    let again = place.run("http://127.0.0.1:9", &["--to", "here"]).expect(0);
    assert_eq!(hub.requests().len(), asked);
    assert_eq!(std::fs::read(place.work.path("here/data.csv")).unwrap(), content, "{}", again.stderr);
}

/// A file of the hub as an input: its name in the lake is the hub's, the commit that a branch stood for is kept, and the same commit gives the
/// same bytes again without a network.
#[test]
fn files_of_the_hub_are_inputs() {
    let content = content();
    let place = Place::new(COMMIT, "", "");
    let sent = content.clone();
    let hub = Hub::start(move |_, path, _| match path.contains("/resolve/") && path.ends_with("/sub/data.csv") {
        true => Reply::Whole(200, headers("plain"), sent.clone()),
        false => Reply::Whole(404, vec![("X-Error-Code".into(), "EntryNotFound".into())], Vec::new()),
    });
    let run = |endpoint: &str, args: &[&str]| {
        let mut command = place.work.command(args);
        command.env("HF_ENDPOINT", endpoint).env("HF_HOME", place.work.path("hf")).env("NO_PROXY", "127.0.0.1");
        command.env_remove("HF_HUB_OFFLINE").env_remove("HF_HUB_CACHE").env_remove("HF_TOKEN");
        ran(command)
    };
    let first = run(&hub.endpoint, &["run", "agiqa-3k", "hf://datasets/o/n/sub/data.csv"]).expect(0);
    assert!(first.stderr.contains("added hf://datasets/o/n/sub/data.csv"), "{}", first.stderr);
    let sources = place.work.json(&["lake", "info", "agiqa-3k", "--sources"]);
    assert_eq!((&sources[0]["revision"], &sources[0]["sha256"]), (&json!(COMMIT), &json!(sha256(&content))));
    let folder = place.work.path("lake/snapshots/agiqa-3k");
    let id = std::fs::read_to_string(folder.join("LATEST-official")).unwrap().trim().to_owned();
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(folder.join(&id).join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["inputs"][0]["revision"], COMMIT);
    let shown = place.work.run(&["snapshot", "show", "agiqa-3k"]).expect(0);
    assert!(shown.stdout.contains(COMMIT) || shown.stderr.contains(COMMIT), "{}", shown.stdout);
    // The commit that was resolved, in a lake of its own and with the server gone: the same snapshot.
    let pinned = format!("hf://datasets/o/n@{COMMIT}/sub/data.csv");
    let again = run("http://127.0.0.1:9", &["run", "agiqa-3k", &pinned, "--lake", "other"]).expect(0);
    assert!(again.stderr.contains(&id), "{}", again.stderr);
    for (url, told) in [
        ("hf://datasets/o/n", "not a file of the hub"),
        ("hf://datasets/o/n/../../etc/passwd", "not a file of the hub"),
        ("hf://datasets/o/n@/data.csv", "not a file of the hub"),
        ("https://example.org/data.csv", "`https://` inputs are not supported"),
    ] {
        let ran = run("http://127.0.0.1:9", &["ingest", "agiqa-3k", url]);
        assert!(ran.code == 1 || ran.code == 2, "{url}: {}", ran.code);
        assert!(ran.stderr.contains(told), "{url}: {}", ran.stderr);
    }
    let ran = run(&hub.endpoint, &["ingest", "agiqa-3k", "hf://datasets/o/n/missing.csv"]).expect(1);
    assert!(ran.stderr.contains("no such file at this revision"), "{}", ran.stderr);
}

/// E01: a connection that is cut half-way twice; the third time all comes, and no partial file stays.
#[test]
fn a_cut_connection_is_tried_again() {
    let content = content();
    let place = Place::new(COMMIT, "", &sha256(&content));
    let sent = content.clone();
    let hub = Hub::start(move |method, _, before| match (method, before) {
        ("GET", 0 | 1) => Reply::Cut(headers("plain"), sent.clone(), sent.len() / 2),
        _ => Reply::Whole(200, headers("plain"), sent.clone()),
    });
    let ran = place.run(&hub.endpoint, &[]).expect(0);
    assert_eq!(ran.stderr.matches("again in").count(), 2, "{}", ran.stderr);
    assert_eq!(std::fs::read(first_row(&ran)["path"].as_str().unwrap()).unwrap(), content);
    let blobs: Vec<_> = std::fs::read_dir(place.work.path("hf/hub/datasets--o--n/blobs")).unwrap().flatten().collect();
    assert_eq!(blobs.len(), 1, "{blobs:?}");
}

/// E03: a server that says how long to wait is heard; one that never relents is left with a clear message.
#[test]
fn the_server_says_how_long_to_wait() {
    let content = content();
    let place = Place::new(COMMIT, "", "");
    let limited = || Reply::Whole(429, vec![("Retry-After".into(), "2".into())], Vec::new());
    let sent = content.clone();
    let hub = Hub::start(move |method, _, before| match (method, before) {
        ("HEAD", 0) => limited(),
        _ => Reply::Whole(200, headers("plain"), sent.clone()),
    });
    let start = Instant::now();
    let ran = place.run(&hub.endpoint, &[]).expect(0);
    assert!(start.elapsed() >= Duration::from_secs(2) && ran.stderr.contains("again in 2.0 s"), "{}", ran.stderr);
    assert_eq!(first_row(&ran)["digest"], "not known beforehand");
    let place = Place::new(COMMIT, "", "");
    let hub = Hub::start(|_, _, _| Reply::Whole(429, vec![("Retry-After".into(), "4000".into())], Vec::new()));
    let ran = place.run(&hub.endpoint, &[]).expect(1);
    assert!(ran.stderr.contains("limits how often") && ran.stderr.contains("4000 s"), "{}", ran.stderr);
    assert_eq!(hub.requests().len(), 1);
}

/// E05: offline and not in the cache is an error at once, and asks for nothing.
#[test]
fn offline_asks_for_nothing() {
    let place = Place::new(COMMIT, "", "");
    let hub = Hub::start(|_, _, _| Reply::Whole(200, headers("plain"), Vec::new()));
    let mut command = place.command(&hub.endpoint, &[]);
    command.env("HF_HUB_OFFLINE", "1");
    let ran = ran(command).expect(1);
    let error: Value = serde_json::from_str(&ran.stderr).unwrap();
    let text = error.to_string();
    assert!(text.contains("data.csv") && text.contains("HF_HUB_OFFLINE") && text.contains("network"), "{text}");
    assert_eq!(hub.requests(), Vec::<String>::new());
}

/// E06, E16: gated data fail at once, with the server's words, where to accept, and which tokens were looked for; never the secret.
#[test]
fn gated_data_are_said_to_be() {
    let place = Place::new(COMMIT, "", "");
    let gated = |_: &str, _: &str, _: usize| {
        let told = vec![
            ("X-Error-Code".into(), "GatedRepo".into()),
            ("X-Error-Message".into(), "Access to dataset o/n is restricted.".into()),
        ];
        Reply::Whole(403, told, br#"{"error": "restricted"}"#.to_vec())
    };
    let hub = Hub::start(gated);
    let ran = place.run(&hub.endpoint, &[]).expect(1);
    for told in ["gated or private", "Access to dataset o/n is restricted.", "/datasets/o/n", "HF_TOKEN", "hf/token"] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    assert_eq!(hub.requests().len(), 1, "{:?}", hub.requests());
    let mut command = place.command(&hub.endpoint, &[]);
    command.env("HF_TOKEN", "hf_secret");
    let ran = self::ran(command).expect(1);
    assert!(
        ran.stderr.contains("the token from HF_TOKEN was sent") && !ran.stderr.contains("hf_secret"),
        "{}",
        ran.stderr
    );
    assert!(hub.requests().last().unwrap().ends_with("bearer hf_secret"));
}

/// Wrong bytes are no file: removed, and an error with both digests; the cache holds nothing of them.
#[test]
fn another_file_is_refused() {
    let content = content();
    let place = Place::new(COMMIT, "", &sha256(b"something else"));
    let hub = Hub::start(move |_, _, _| Reply::Whole(200, headers("plain"), content.clone()));
    let mut command = place.command(&hub.endpoint, &[]);
    command.env("HF_HUB_DISABLE_PROGRESS_BARS", "1");
    let ran = ran(command).expect(1);
    assert!(ran.stderr.contains("is due") && ran.stderr.contains("removed from the cache"), "{}", ran.stderr);
    assert_eq!(std::fs::read_dir(place.work.path("hf/hub/datasets--o--n/blobs")).unwrap().count(), 0);
}

/// E12, E13, E15: a stale lock is taken over; two processes end with one valid file; a branch is resolved to its commit.
#[test]
fn locks_branches_and_two_at_once() {
    let content = content();
    let place = Place::new("main", "", "");
    place.work.write("hf/hub/.locks/datasets--o--n/plain.lock", "");
    let sent = content.clone();
    let hub = Hub::start(move |method, _, _| {
        if method == "GET" {
            std::thread::sleep(Duration::from_millis(300));
        }
        Reply::Whole(200, headers("plain"), sent.clone())
    });
    let mut children: Vec<_> = (0..2)
        .map(|_| {
            let mut command = place.command(&hub.endpoint, &[]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in children.drain(..) {
        let output = child.wait_with_output().unwrap();
        let rows: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
        assert_eq!(rows[0]["commit"], COMMIT);
        assert_eq!(std::fs::read(rows[0]["path"].as_str().unwrap()).unwrap(), content);
    }
    let pinned = place.run("http://127.0.0.1:9", &["--revision", COMMIT]).expect(0);
    assert_eq!(first_row(&pinned)["sha256"], json!(sha256(&content)));
    let missing =
        Hub::start(|_, _, _| Reply::Whole(404, vec![("X-Error-Code".into(), "EntryNotFound".into())], Vec::new()));
    let ran = place.run(&missing.endpoint, &["--revision", OTHER]).expect(1);
    assert!(ran.stderr.contains("no such") && ran.stderr.contains(OTHER), "{}", ran.stderr);
    let ran = place.work.run(&["fetch", "fager"]).expect(2);
    assert!(ran.stderr.contains("clone https://github.com/SGT-LIM/FAGER at 9372d55"), "{}", ran.stderr);
}

/// Every variable that hub tools agree on, in their order.
#[test]
fn the_environment_of_hub_tools() {
    let read = |pairs: &[(&str, &str)]| {
        let pairs: Vec<(String, String)> = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        Environment::read(move |name| pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.into()))
    };
    let plain = read(&[("HOME", "/home/u")]);
    assert_eq!(
        (plain.endpoint.as_str(), plain.cache.to_str().unwrap()),
        ("https://huggingface.co", "/home/u/.cache/huggingface/hub")
    );
    assert!(!plain.offline && plain.shows_progress && plain.token.is_none());
    let all = read(&[
        ("HF_HOME", "/hf"),
        ("HF_HUB_CACHE", "/c"),
        ("HF_ENDPOINT", "http://e"),
        ("HF_TOKEN", " t "),
        ("HF_HUB_OFFLINE", "TRUE"),
        ("HF_HUB_DISABLE_PROGRESS_BARS", "1"),
    ]);
    assert_eq!((all.endpoint.as_str(), all.cache.to_str().unwrap()), ("http://e", "/c"));
    assert!(all.offline && !all.shows_progress);
    assert_eq!(format!("{:?}", all.token.unwrap()), "a token from HF_TOKEN");
    assert_eq!(read(&[("HF_HOME", "/hf")]).cache.to_str().unwrap(), "/hf/hub");
    assert_eq!(read(&[("XDG_CACHE_HOME", "/x")]).cache.to_str().unwrap(), "/x/huggingface/hub");
    assert!(read(&[("HF_TOKEN", "t"), ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")]).token.is_none());
}
