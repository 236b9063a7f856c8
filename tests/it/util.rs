//! A folder of its own for each test, with the binary run in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Requires an exit code; shows everything otherwise.
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}

/// A temporary folder with a lake in it.
pub(crate) struct Workdir {
    dir: tempfile::TempDir,
}

impl Workdir {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file and gives its path as text.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.to_string_lossy().into_owned()
    }

    /// The command, in this folder and with its lake, nothing inherited that changes it.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scorelake"));
        command.args(args).current_dir(self.dir.path());
        command.env("SCORELAKE_LAKE", self.path("lake")).env_remove("SCORELAKE_ASSETS").env_remove("SCORELAKE_THREADS");
        // Tests that are about how sure the numbers are ask for it: --intervals default.
        command.env_remove("RUST_BACKTRACE").env("SCORELAKE_INTERVALS", "none");
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        let output = self.command(args).output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs and parses stdout as JSON.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let mut all = args.to_vec();
        all.extend(["--format", "json"]);
        let ran = self.run(&all).expect(0);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {}", ran.stdout))
    }

    /// The rows of a query.
    #[track_caller]
    pub(crate) fn sql(&self, query: &str) -> Vec<Value> {
        self.json(&["sql", query]).as_array().unwrap().clone()
    }

    /// The first row of a query.
    #[track_caller]
    pub(crate) fn row(&self, query: &str) -> Value {
        let rows = self.sql(query);
        rows.first().unwrap_or_else(|| panic!("no row: {query}")).clone()
    }

    /// The id that LATEST names.
    pub(crate) fn latest(&self, protocol: &str) -> String {
        let path = self.path(&format!("lake/snapshots/qwen-image-bench/LATEST-{protocol}"));
        std::fs::read_to_string(path).unwrap().trim().to_owned()
    }
}

/// Every file under a folder with its bytes, by relative path.
pub(crate) fn tree(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut dirs = vec![root.to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                files.push((name, std::fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// A shared file, where there is one; a test without it says that it was skipped.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let root = std::env::var_os("SCORELAKE_SHARED").map_or_else(|| project().join("../shared"), PathBuf::from);
    let path = root.join(name);
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var_os("SCORELAKE_REQUIRE_SHARED").is_none(), "{} is required and not there", path.display());
    eprintln!("skipped: {} is not there (SCORELAKE_SHARED names the folder)", path.display());
    None
}

/// The project's folder.
pub(crate) fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A wide line with these replies: (key, reply).
pub(crate) fn line(id: u32, dims: &str, replies: &[(&str, Value)]) -> String {
    let mut object = serde_json::Map::new();
    object.insert("ID".into(), id.into());
    object.insert("dims_en".into(), dims.into());
    for (key, reply) in replies {
        object.insert((*key).into(), reply.clone());
    }
    Value::Object(object).to_string() + "\n"
}
