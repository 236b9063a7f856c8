//! One file of a dataset repository, through hf-hub, into the cache that hub tools share. hf-hub neither waits as the server says nor looks at
//! what it wrote; both are done here.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hf_hub::progress::{DownloadEvent, ProgressEvent, ProgressHandler};
use hf_hub::{HFClientSync, HFError};

use super::resume::{self, Came};
use super::{Environment, RemoteFile};
use crate::error::{Error, ErrorKind, Result};
use crate::store::File;

/// Called with the bytes that are there and those that there will be.
pub type Progress = Arc<dyn Fn(u64, u64) + Send + Sync>;

/// How often a file is asked for in all.
const ATTEMPTS: u32 = 5;
/// The first pause; each is twice the one before.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest that a server may make us wait.
const PATIENCE: Duration = Duration::from_secs(300);

/// A fetched file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Where it is in the cache.
    pub path: PathBuf,
    /// The commit that the revision stands for.
    pub commit: String,
    /// Size.
    pub bytes: u64,
    /// SHA-256.
    pub sha256: String,
    /// Whether the digest was known beforehand, from our table or the server's.
    pub is_checked: bool,
}

/// The hub, as the environment says.
pub struct Hub {
    client: HFClientSync,
    environment: Environment,
}

struct Handler {
    progress: Progress,
    total: Arc<AtomicU64>,
}

impl ProgressHandler for Handler {
    fn on_progress(&self, event: &ProgressEvent) {
        let ProgressEvent::Download(event) = event else { return };
        match event {
            DownloadEvent::Start { total_bytes, .. } => {
                self.total.store(*total_bytes, Ordering::Relaxed);
                (self.progress)(0, *total_bytes);
            }
            DownloadEvent::Progress { files } => {
                let done = files.iter().map(|file| file.bytes_completed).sum();
                (self.progress)(done, self.total.load(Ordering::Relaxed));
            }
            DownloadEvent::AggregateProgress { bytes_completed, total_bytes, .. } => {
                (self.progress)(*bytes_completed, *total_bytes);
            }
            DownloadEvent::Complete => {}
        }
    }
}

/// A client of the hub.
pub(crate) fn client(environment: &Environment, attempts: usize) -> Result<HFClientSync> {
    let cache = environment.cache.as_ref().ok_or_else(|| {
        Error::new(ErrorKind::Usage, "there is no folder for the hub's cache")
            .hint("set HF_HOME or HF_HUB_CACHE to a folder, or HOME or XDG_CACHE_HOME")
    })?;
    let mut builder = hf_hub::HFClient::builder()
        .endpoint(&environment.endpoint)
        .cache_dir(cache)
        .user_agent(concat!("scorelake/", env!("CARGO_PKG_VERSION")))
        .retry_max_attempts(attempts);
    if let Some(token) = &environment.token {
        builder = builder.token(&token.secret);
    }
    builder.build_sync().map_err(|e| {
        Error::new(ErrorKind::Usage, format!("the hub's client cannot be made: {e}"))
            .with("endpoint", &environment.endpoint)
            .caused_by(e)
    })
}

impl Hub {
    /// A client for an environment; nothing is asked yet.
    pub fn new(environment: Environment) -> Result<Self> {
        // Attempts are counted and paced here.
        let client = client(&environment, 0)?;
        Ok(Self { client, environment })
    }

    /// Fetches a file, or finds it in the cache: a pinned file that is there needs no request. `told` hears of pauses.
    pub fn fetch(&self, file: &RemoteFile, progress: &Progress, told: &dyn Fn(&str)) -> Result<Fetched> {
        let mut pause = PAUSE;
        for attempt in 1.. {
            let total = Arc::new(AtomicU64::new(0));
            let failed = match self.once(file, progress, &total) {
                Ok(path) => match self.checked(file, path, total.load(Ordering::Relaxed)) {
                    Ok(fetched) => return Ok(fetched),
                    // Too short a file was removed; it may have been the connection. Other bytes would be the same again.
                    Err(error) if attempt < ATTEMPTS && error.kind() == ErrorKind::Network => error,
                    Err(error) => return Err(error),
                },
                Err(error) => {
                    let wait = wait_of(&error);
                    let is_hopeless = !is_transient(&error) || attempt >= ATTEMPTS;
                    let failed = self.error(file, error, attempt);
                    match wait {
                        _ if is_hopeless => return Err(failed),
                        Some(wait) if wait > PATIENCE => {
                            return Err(
                                failed.hint(format!("the server asks for {} s: run again later", wait.as_secs()))
                            );
                        }
                        Some(wait) => pause = pause.max(wait),
                        None => {}
                    }
                    failed
                }
            };
            told(&format!("{}: {}; again in {:.1} s", file.file, failed.message(), pause.as_secs_f64()));
            std::thread::sleep(pause);
            // Once the file is whole hf-hub has only to give it its name.
            while resume::finish(&self.environment, file, total.load(Ordering::Relaxed), progress)? == Came::Further {
                std::thread::sleep(PAUSE);
            }
            pause *= 2;
        }
        Err(Error::new(ErrorKind::Network, "the file was not fetched").with("file", &file.file))
    }

    fn once(&self, file: &RemoteFile, progress: &Progress, total: &Arc<AtomicU64>) -> Result<PathBuf, HFError> {
        let (owner, name) = file.repo.split_once('/').unwrap_or(("", &file.repo));
        let handler = Handler { progress: Arc::clone(progress), total: Arc::clone(total) };
        self.client
            .dataset(owner, name)
            .download_file()
            .filename(&file.file)
            .revision(&file.revision)
            .local_files_only(self.environment.offline)
            .progress(handler)
            .send()
    }

    /// Size and digest of what is in the cache; a file that is not what it should be is removed.
    fn checked(&self, file: &RemoteFile, path: PathBuf, total: u64) -> Result<Fetched> {
        let blob = path.canonicalize().map_err(|e| Error::io(&path, "open", e))?;
        let bytes = std::fs::metadata(&blob).map_err(|e| Error::io(&blob, "read", e))?.len();
        let sha256 = File::from(blob.as_path()).sha256()?;
        let name = blob.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // The hub names large files by their SHA-256.
        let of_server = (name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(name);
        let wanted = file.sha256.as_ref().or(of_server.as_ref());
        let size = file.bytes.or((total > 0).then_some(total));
        let wrong = match (size, wanted) {
            (Some(size), _) if size != bytes => {
                Some((ErrorKind::Network, format!("{bytes} bytes where {size} are due")))
            }
            (_, Some(wanted)) if *wanted != sha256 => {
                Some((ErrorKind::Corrupt, format!("SHA-256 {sha256} where {wanted} is due")))
            }
            _ => None,
        };
        if let Some((kind, wrong)) = wrong {
            for path in [&path, &blob] {
                std::fs::remove_file(path).map_err(|e| Error::io(path, "remove", e))?;
            }
            return Err(Error::new(kind, format!("not the file that it should be: {wrong}"))
                .with("file", &file.file)
                .with("repository", &file.repo)
                .with("revision", &file.revision)
                .hint("it was removed from the cache; another revision has other files (--revision)"));
        }
        let commit = commit_of(&path, &file.file);
        Ok(Fetched { commit, bytes, sha256, is_checked: wanted.is_some(), path })
    }

    fn error(&self, file: &RemoteFile, error: HFError, attempt: u32) -> Error {
        let environment = &self.environment;
        let cache = environment.cache.as_ref().map(|cache| cache.display().to_string()).unwrap_or_default();
        let page = format!("{}/datasets/{}", environment.endpoint, file.repo);
        let said = |message: &Option<String>| match message {
            Some(message) => format!("; the server says: {message}"),
            None => String::new(),
        };
        let token = match &environment.token {
            Some(token) => format!("the token from {} was sent", token.from),
            None => format!("no token was found in {}", environment.looked_for.join(", ")),
        };
        let refused = |message: &Option<String>| {
            Error::new(ErrorKind::Network, format!("the hub refuses the file: gated or private{}", said(message)))
                .hint(format!("{token}; accept the terms at {page}, and set HF_TOKEN to a token that may read it"))
        };
        let described = match &error {
            HFError::AuthRequired { context } | HFError::Forbidden { context } => refused(&context.server_message),
            HFError::RepoNotFound { context, .. } => {
                let said = context.as_ref().map(|context| said(&context.server_message)).unwrap_or_default();
                Error::new(ErrorKind::Network, format!("the hub has no such dataset, or it is private{said}"))
                    .hint(format!("{token}; see {page}"))
            }
            HFError::RevisionNotFound { .. } => Error::new(ErrorKind::Network, "the dataset has no such revision")
                .hint(format!("see {page}/commits/main")),
            HFError::EntryNotFound { .. } => {
                Error::new(ErrorKind::Network, "the dataset has no such file at this revision")
                    .hint(format!("see {page}/tree/{}", file.revision))
            }
            HFError::LocalEntryNotFound { .. } => {
                Error::new(ErrorKind::Network, "the file is not in the cache, and HF_HUB_OFFLINE forbids to ask for it")
                    .with("cache", cache)
                    .hint("unset HF_HUB_OFFLINE, or fetch the file where there is a network")
            }
            HFError::CacheLockTimeout { path } => {
                Error::new(ErrorKind::Network, "another process holds the cache's lock of this file")
                    .with("lock", path.display())
                    .hint("wait for it to end; if no process downloads it, remove the lock file")
            }
            HFError::RateLimited { context, .. } => Error::new(
                ErrorKind::Network,
                format!("the hub limits how often it may be asked{}", said(&context.server_message)),
            )
            .with("attempts", attempt),
            HFError::Http { context } => Error::new(
                ErrorKind::Network,
                format!("the hub answers {}{}", context.status, said(&context.server_message)),
            )
            .with("attempts", attempt),
            HFError::Io(_) => {
                Error::new(ErrorKind::Io, format!("the cache cannot be written: {error}")).with("cache", cache)
            }
            other => Error::new(ErrorKind::Network, format!("the hub cannot be read: {}", innermost(other)))
                .with("attempts", attempt)
                .hint("check the network; HF_ENDPOINT names another hub, and a file in the cache needs none"),
        };
        described
            .with("file", &file.file)
            .with("repository", &file.repo)
            .with("revision", &file.revision)
            .with("endpoint", &environment.endpoint)
            .caused_by(error)
    }
}

/// The cause of a failed request; what stands around it repeats the address.
pub(crate) fn innermost(error: &HFError) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// The folder of the cache under which a file stands is named by the commit.
fn commit_of(path: &Path, file: &str) -> String {
    let depth = Path::new(file).components().count();
    let folder = path.ancestors().nth(depth).and_then(Path::file_name);
    folder.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// How long the server asks to wait.
fn wait_of(error: &HFError) -> Option<Duration> {
    match error {
        HFError::RateLimited { retry_after, .. } => *retry_after,
        _ => None,
    }
}

/// Whether the next attempt may fare better.
fn is_transient(error: &HFError) -> bool {
    match error {
        HFError::RateLimited { .. } => true,
        HFError::Request { source, .. } => !source.is_builder(),
        HFError::Http { context } => context.status.is_server_error() || context.status.as_u16() == 408,
        _ => false,
    }
}
