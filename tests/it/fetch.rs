//! `scorelake fetch` against a small server that speaks the hub's file protocol, on loopback. Nothing here touches the real network.

use std::process::Command;
use std::time::{Duration, Instant};

use scorelake::fetch::Environment;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::inputs::{archive, gzip};
use super::s3::ran;
use super::server::{Reply, Request, Server};
use super::util::{Ran, Workdir, project};

const COMMIT: &str = "30ded2bed96fc78070636548e811ece37e5d8f66";
const OTHER: &str = "1111111111111111111111111111111111111111";

/// A hub on loopback: `rule` gets the method, the path and how often this very request came before.
struct Hub {
    endpoint: String,
    server: Server,
}

impl Hub {
    fn start(rule: impl Fn(&str, &str, usize) -> Reply + Send + Sync + 'static) -> Self {
        let server = Server::start(move |request, before| rule(&request.method, &request.path, before));
        Self { endpoint: server.endpoint.clone(), server }
    }

    /// Method, path and the token of each request.
    fn requests(&self) -> Vec<String> {
        let told = |request: &Request| {
            let token =
                request.header("authorization").map_or_else(String::new, |token| format!(" {}", token.to_lowercase()));
            format!("{} {}{token}", request.method, request.path)
        };
        self.server.requests().iter().map(told).collect()
    }
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
            format!("dataset,host,repo,revision,file,bytes,sha256\nagiqa-3k,huggingface,o/n,{revision},data.csv,{bytes},{digest}\n"),
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
    // Without a network, and said so: the branch stands for what it stood for, and nothing is asked.
    let asked = hub.requests().len();
    let mut offline = place.work.command(&["run", "agiqa-3k", "hf://datasets/o/n/sub/data.csv", "--lake", "third"]);
    offline.env("HF_ENDPOINT", &hub.endpoint).env("HF_HOME", place.work.path("hf")).env("HF_HUB_OFFLINE", "1");
    let offline = ran(offline.env_remove("HF_HUB_CACHE")).expect(0);
    assert!(offline.stderr.contains(&id) && hub.requests().len() == asked, "{}", offline.stderr);
    for (url, told) in [
        ("hf://datasets/o/n", "not a file of the hub"),
        ("hf://datasets/o/n/../../etc/passwd", "not a file of the hub"),
        ("hf://datasets/o/n@/data.csv", "not a file of the hub"),
        ("ftp://example.org/data.csv", "`ftp://` inputs are not supported"),
    ] {
        let ran = run("http://127.0.0.1:9", &["ingest", "agiqa-3k", url]);
        assert!(ran.code == 1 || ran.code == 2, "{url}: {}", ran.code);
        assert!(ran.stderr.contains(told), "{url}: {}", ran.stderr);
    }
    let ran = run(&hub.endpoint, &["ingest", "agiqa-3k", "hf://datasets/o/n/missing.csv"]).expect(1);
    assert!(ran.stderr.contains("no such file at this revision"), "{}", ran.stderr);
}

/// E01: a connection that is cut half-way, and once more: gone on with where it ended, or begun again where the server gives no ranges; no
/// partial file stays.
#[test]
fn a_cut_connection_is_gone_on_with() {
    let content = content();
    for gives_ranges in [true, false] {
        let place = Place::new(COMMIT, "", &sha256(&content));
        let (sent, half) = (content.clone(), content.len() / 2);
        let server = Server::start(move |request, before| match (request.method.as_str(), request.offset(), before) {
            ("GET", None, 0) => Reply::Cut(200, headers("plain"), sent.clone(), half),
            ("GET", Some(offset), _) if gives_ranges => {
                let mut all = headers("plain");
                all.push(("Content-Range".into(), format!("bytes {offset}-{}/{}", sent.len() - 1, sent.len())));
                // Cut once more.
                let sent = sent[offset..].to_vec();
                if offset == half { Reply::Cut(206, all, sent, 100) } else { Reply::Whole(206, all, sent) }
            }
            _ => Reply::Whole(200, headers("plain"), sent.clone()),
        });
        let ran = place.run(&server.endpoint, &[]).expect(0);
        assert_eq!(std::fs::read(first_row(&ran)["path"].as_str().unwrap()).unwrap(), content);
        let offsets: Vec<_> = server.requests().iter().filter_map(Request::offset).collect();
        assert_eq!(offsets, if gives_ranges { vec![half, half + 100] } else { vec![half] }, "{}", ran.stderr);
        let blobs: Vec<_> =
            std::fs::read_dir(place.work.path("hf/hub/datasets--o--n/blobs")).unwrap().flatten().collect();
        assert_eq!(blobs.len(), 1, "{blobs:?}");
    }
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
}

/// E12: a lock that a living process holds is waited for, not for ever, and then named.
#[test]
fn e12_a_held_lock_is_named() {
    let place = Place::new(COMMIT, "", "");
    let lock = place.work.write("hf/hub/.locks/datasets--o--n/plain.lock", "");
    let held = std::fs::File::open(&lock).unwrap();
    held.lock().unwrap();
    let hub = Hub::start(|_, _, _| Reply::Whole(200, headers("plain"), b"x".to_vec()));
    let start = Instant::now();
    let ran = place.run(&hub.endpoint, &[]).expect(1);
    assert!(ran.stderr.contains("another process holds") && ran.stderr.contains(&lock), "{}", ran.stderr);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
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
        (plain.endpoint.as_str(), plain.cache.as_ref().unwrap().to_str().unwrap()),
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
    assert_eq!((all.endpoint.as_str(), all.cache.as_ref().unwrap().to_str().unwrap()), ("http://e", "/c"));
    assert!(all.offline && !all.shows_progress);
    assert_eq!(format!("{:?}", all.token.unwrap()), "a token from HF_TOKEN");
    assert_eq!(read(&[("HF_HOME", "/hf")]).cache.unwrap().to_str().unwrap(), "/hf/hub");
    assert_eq!(read(&[("XDG_CACHE_HOME", "/x")]).cache.unwrap().to_str().unwrap(), "/x/huggingface/hub");
    assert!(read(&[]).cache.is_none());
    assert!(read(&[("HF_TOKEN", "t"), ("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")]).token.is_none());
}

/// A repository of GitHub: its archive at the pinned commit is asked for once, the files that the dataset names are unpacked and checked, and
/// what the archive says of its commit is what is told.
#[test]
fn archives_of_github() {
    let work = Workdir::new();
    let (questions, other) = (b"index,question\n".to_vec(), b"not ours".to_vec());
    let files = |digest: &str| {
        format!(
            "dataset,host,repo,revision,file,bytes,sha256\nfager,github,O/R,30ded2b,**/ABO/QA.csv,{},{digest}\nfager,github,O/R,30ded2b,**/Culture/*.csv,,\n",
            questions.len()
        )
    };
    work.write("assets/data/files.csv", files(&sha256(&questions)));
    let comment = format!("52 comment={COMMIT}\n");
    let packed = gzip(&archive(&[
        ("pax_global_header", comment.as_bytes()),
        ("R-30ded2b/data/ABO/QA.csv", &questions),
        ("R-30ded2b/data/ABO/other.csv", &other),
        ("R-30ded2b/README.md", &other),
    ]));
    let hub = Hub::start(move |_, path, _| match path {
        "/O/R/archive/30ded2b.tar.gz" | "/O/R/archive/1111111111111111111111111111111111111111.tar.gz" => {
            Reply::Whole(302, vec![("Location".into(), "{endpoint}/codeload".into())], Vec::new())
        }
        "/codeload" => Reply::Whole(200, Vec::new(), packed.clone()),
        _ => Reply::Whole(404, Vec::new(), b"Not Found".to_vec()),
    });
    let run = |server: &str, args: &[&str], offline: bool| {
        let all = [&["fetch", "fager", "--assets", "assets", "--format", "json"][..], args].concat();
        let mut command = work.command(&all);
        command
            .env("GITHUB_SERVER_URL", server)
            .env("SCORELAKE_CACHE", work.path("cache"))
            .env("NO_PROXY", "127.0.0.1");
        command.env("HF_HUB_OFFLINE", if offline { "1" } else { "" });
        ran(command)
    };
    let cold = run(&hub.endpoint, &[], true).expect(1);
    assert!(cold.stderr.contains("HF_HUB_OFFLINE") && hub.requests().is_empty(), "{}", cold.stderr);
    let fetched = run(&hub.endpoint, &[], false).expect(0);
    let row = first_row(&fetched);
    assert_eq!(
        (&row["commit"], &row["digest"], &row["file"]),
        (&json!(COMMIT), &json!("as expected"), &json!("data/ABO/QA.csv"))
    );
    let asked = hub.requests().len();
    // Pinned and in the cache: no request, with or without a network; and a copy where it is wanted.
    run("http://127.0.0.1:9", &["--to", "here"], true).expect(0);
    assert_eq!(std::fs::read(work.path("here/data/ABO/QA.csv")).unwrap(), questions);
    assert_eq!(hub.requests().len(), asked);
    let kept = super::util::tree(&work.path("cache/github"));
    assert_eq!(kept.len(), 2, "the file and the word that it is whole: {kept:?}");
    let missing = run(&hub.endpoint, &["--revision", "main"], false).expect(1);
    assert!(missing.stderr.contains("the server says: Not Found"), "{}", missing.stderr);
    let full = "1111111111111111111111111111111111111111";
    let other = run(&hub.endpoint, &["--revision", full], false).expect(1);
    assert!(other.stderr.contains("of another commit than was asked for"), "{}", other.stderr);
    work.write("assets/data/files.csv", files(&sha256(b"another")));
    let wrong = run(&hub.endpoint, &[], false).expect(1);
    assert!(wrong.stderr.contains("is due") && wrong.stderr.contains("data/ABO/QA.csv"), "{}", wrong.stderr);
}

/// S10: an archive of GitHub with an entry that leads outside leaves nothing behind.
#[test]
fn s10_an_archive_that_leads_outside() {
    let work = Workdir::new();
    work.write(
        "assets/data/files.csv",
        "dataset,host,repo,revision,file,bytes,sha256\nfager,github,O/R,30ded2b,**/*.csv,,\n",
    );
    let packed = gzip(&archive(&[("R/a.csv", b"a\n"), ("R/../../../evil.csv", b"a\n")]));
    let hub = Hub::start(move |_, _, _| Reply::Whole(200, Vec::new(), packed.clone()));
    let mut command = work.command(&["fetch", "fager", "--assets", "assets"]);
    command
        .env("GITHUB_SERVER_URL", &hub.endpoint)
        .env("SCORELAKE_CACHE", work.path("cache"))
        .env("NO_PROXY", "127.0.0.1");
    let ran = ran(command.env_remove("HF_HUB_OFFLINE")).expect(1);
    assert!(ran.stderr.contains("leaves its root") && ran.stderr.contains("R/../../../evil.csv"), "{}", ran.stderr);
    assert!(super::util::tree(&work.path("cache")).is_empty() && !work.path("evil.csv").exists());
}
