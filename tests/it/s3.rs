//! A real S3 server on loopback, s3s-fs of crates.io, started for one test and stopped with it, and before it a gate that lets one conditional
//! write through at a time (s3s-fs looks and writes in two steps), counts, and fails on demand.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::server::{Reply, Request, Server};
use super::util::{Ran, Workdir};

/// A secret that must be in no output.
pub(crate) const SECRET: &str = "a-secret-that-nobody-may-see";
const KEY: &str = "AKIDTEST";

type Lost = dyn Fn(&Request, usize) -> bool + Send + Sync;
type Fault = dyn Fn(&Request, usize) -> Option<Reply> + Send + Sync;

/// The server, its data in a folder of the test, and the gate.
pub(crate) struct S3 {
    child: Child,
    root: tempfile::TempDir,
    gate: Server,
    fault: Arc<Mutex<Option<Arc<Fault>>>>,
    lost: Arc<Mutex<Option<Arc<Lost>>>>,
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _dead = self.child.kill();
        let _dead = self.child.wait();
    }
}

impl S3 {
    /// Starts it with the bucket `bucket`; `None`, and a word about it, where the server is not installed.
    pub(crate) fn start() -> Option<Self> {
        let binary = binary()?;
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("bucket")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new(binary)
            .args(["--host", "127.0.0.1", "--port", &port.to_string(), "--access-key", KEY, "--secret-key", SECRET])
            .arg(root.path())
            .env("RUST_LOG", "off")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let fault: Arc<Mutex<Option<Arc<Fault>>>> = Arc::default();
        let lost: Arc<Mutex<Option<Arc<Lost>>>> = Arc::default();
        let (faults, losses, one_at_a_time) = (Arc::clone(&fault), Arc::clone(&lost), Mutex::new(()));
        let gate = Server::start(move |request, before| {
            let fault = faults.lock().unwrap().clone();
            if let Some(reply) = fault.and_then(|fault| fault(request, before)) {
                return reply;
            }
            let _held: Option<MutexGuard<'_, ()>> = (request.method == "PUT").then(|| one_at_a_time.lock().unwrap());
            let answer = forward(request, port);
            let loss = losses.lock().unwrap().clone();
            match loss.is_some_and(|loss| loss(request, before)) {
                true => Reply::Whole(500, Vec::new(), Vec::new()),
                false => Reply::Raw(answer),
            }
        });
        let s3 = Self { child, root, gate, fault, lost };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(start.elapsed() < Duration::from_secs(20), "the S3 server does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(s3)
    }

    /// The folder in which the server keeps a key, or all keys below one.
    pub(crate) fn kept(&self, key: &str) -> PathBuf {
        self.root.path().join("bucket").join(key)
    }

    /// What the gate answers instead of the server.
    pub(crate) fn fail(&self, fault: impl Fn(&Request, usize) -> Option<Reply> + Send + Sync + 'static) {
        *self.fault.lock().unwrap() = Some(Arc::new(fault));
        self.gate.forget();
    }

    /// Requests that the server does as it is asked, and whose answers are lost.
    pub(crate) fn lose(&self, lost: impl Fn(&Request, usize) -> bool + Send + Sync + 'static) {
        *self.lost.lock().unwrap() = Some(Arc::new(lost));
        self.gate.forget();
    }

    /// The server answers everything again.
    pub(crate) fn mend(&self) {
        *self.fault.lock().unwrap() = None;
    }

    pub(crate) fn gate(&self) -> &Server {
        &self.gate
    }

    /// A command with the credentials, and the lake in the bucket.
    pub(crate) fn command(&self, work: &Workdir, args: &[&str]) -> Command {
        let mut command = work.command(args);
        without_credentials(&mut command, work);
        command.env("AWS_ACCESS_KEY_ID", KEY).env("AWS_SECRET_ACCESS_KEY", SECRET).env("AWS_REGION", "us-east-1");
        command.env("AWS_ENDPOINT_URL", &self.gate.endpoint).env("SCORELAKE_LAKE", "s3://bucket/lake");
        command
    }

    pub(crate) fn run(&self, work: &Workdir, args: &[&str]) -> Ran {
        let ran = ran(self.command(work, args));
        assert!(!ran.stdout.contains(SECRET) && !ran.stderr.contains(SECRET), "the secret is in the output");
        ran
    }
}

/// Nothing of the machine's own credentials, and a cache of the test's own.
pub(crate) fn without_credentials(command: &mut Command, work: &Workdir) {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if ["AWS_", "GOOGLE_", "AZURE_", "HF_"].iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command.env("HOME", work.path("home")).env("NO_PROXY", "127.0.0.1").env("SCORELAKE_CACHE", work.path("cache"));
}

pub(crate) fn ran(mut command: impl std::borrow::BorrowMut<Command>) -> Ran {
    let output = command.borrow_mut().output().unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// `make s3-server` puts it beside the build.
fn binary() -> Option<PathBuf> {
    let built = Path::new(env!("CARGO_BIN_EXE_scorelake"));
    let path = built.parent().and_then(Path::parent).unwrap().join("servers/bin/s3s-fs");
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var_os("SCORELAKE_REQUIRE_S3").is_none(), "{} is required and not there", path.display());
    eprintln!("skipped: there is no S3 server ({}); `make s3-server` installs it", path.display());
    None
}

/// Sends a request on and gives the answer as it came.
fn forward(request: &Request, port: u16) -> Vec<u8> {
    let mut head = format!("{} {} HTTP/1.1\r\nconnection: close\r\n", request.method, request.path);
    for (name, value) in request.headers.iter().filter(|(name, _)| name != "connection") {
        head += &format!("{name}: {value}\r\n");
    }
    let mut answer = Vec::new();
    let sent = TcpStream::connect(("127.0.0.1", port)).and_then(|mut stream| {
        stream.write_all((head + "\r\n").as_bytes())?;
        stream.write_all(&request.body)?;
        stream.read_to_end(&mut answer)
    });
    match sent {
        Ok(_) => answer,
        Err(_gone) => Vec::new(),
    }
}
