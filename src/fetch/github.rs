//! A repository of GitHub at a commit, from the archive that GitHub makes of it. The archive's own bytes are not promised to stay the same; those of
//! its files are, and they are what is checked and kept.

use std::io::Read;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};
use serde::{Deserialize, Serialize};

use super::{Environment, Fetched, Progress, RemoteFile};
use crate::error::{Error, ErrorKind, Result};
use crate::source::{Location, each_file};
use crate::store::{self, File, Web};

/// Beside the unpacked files of a commit, written last: they are whole.
const COMPLETE: &str = "complete.json";

#[derive(Serialize, Deserialize)]
struct Complete {
    repo: String,
    commit: String,
    /// What was looked for.
    patterns: Vec<String>,
    files: Vec<String>,
}

/// Fetches the files that match rows of one repository and revision, or finds them in the cache: a pinned commit that is there needs no
/// request. Each file comes with its path in the repository.
pub fn fetch_archive(
    environment: &Environment,
    rows: &[RemoteFile],
    server: &str,
    progress: &Progress,
) -> Result<Vec<(String, Fetched)>> {
    let Some(first) = rows.first() else { return Ok(Vec::new()) };
    let cache = store::cache_dir()?.join("github").join(first.repo.replace('/', "--"));
    let folder = match cached(&cache, rows)? {
        Some(folder) => folder,
        None => unpack(environment, rows, &cache, server, progress)?,
    };
    checked(rows, &folder)
}

/// The folder of a commit that is there whole.
fn cached(cache: &Path, rows: &[RemoteFile]) -> Result<Option<PathBuf>> {
    let Some(first) = rows.first().filter(|_| is_pinned(rows) && cache.exists()) else { return Ok(None) };
    for entry in std::fs::read_dir(cache).map_err(|e| Error::io(cache, "list", e))? {
        let path = entry.map_err(|e| Error::io(cache, "list", e))?.path();
        let is_it = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&first.revision));
        // One that was unpacked for other files is not whole for these.
        if is_it && path.join(COMPLETE).exists() && read_complete(&path)?.patterns == patterns_of(rows) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Whether the revision is a commit, which does not move: one in full, or one that files with digests are pinned at.
fn is_pinned(rows: &[RemoteFile]) -> bool {
    let is_commit = |text: &str| text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    rows.iter().any(|row| is_commit(&row.revision) || row.sha256.is_some())
}

fn patterns_of(rows: &[RemoteFile]) -> Vec<String> {
    rows.iter().map(|row| row.file.clone()).collect()
}

fn unpack(
    environment: &Environment,
    rows: &[RemoteFile],
    cache: &Path,
    server: &str,
    progress: &Progress,
) -> Result<PathBuf> {
    let Some(first) = rows.first() else { return Ok(cache.to_path_buf()) };
    let (repo, revision) = (&first.repo, &first.revision);
    let url = format!("{}/{repo}/archive/{revision}.tar.gz", server.trim_end_matches('/'));
    if environment.offline {
        return Err(Error::new(
            ErrorKind::Network,
            "the repository is not in the cache, and HF_HUB_OFFLINE forbids to ask for it",
        )
        .with("url", url)
        .with("cache", cache.display())
        .hint("unset HF_HUB_OFFLINE, or fetch it where there is a network"));
    }
    let web = Web::find(&url)?;
    let size = web.size.unwrap_or_default();
    let archive = Location { uri: url.clone(), file: File::Web(web), size, revision: None };
    std::fs::create_dir_all(cache).map_err(|e| Error::io(cache, "make the folder", e))?;
    let folder = tempfile::Builder::new()
        .prefix(store::TEMPORARY)
        .tempdir_in(cache)
        .map_err(|e| Error::io(cache, "make a folder", e))?;
    let patterns = rows.iter().map(|row| Pattern::new(&row.file)).collect::<Result<Vec<_>, _>>();
    let patterns = patterns.map_err(|e| Error::new(ErrorKind::Config, format!("data/files.csv: {e}")).caused_by(e))?;
    let mut files = Vec::new();
    let commit = each_file(
        &archive,
        |name, content| {
            // The first folder is the repository's name and the commit.
            let Some((_, inside)) = name.split_once('/') else { return Ok(()) };
            if patterns.iter().any(|pattern| pattern.matches_with(inside, options())) {
                put(&folder.path().join(inside), content)?;
                files.push(inside.to_owned());
            }
            Ok(())
        },
        &|read| progress(read, size.max(read)),
    )?;
    let is_whole = |text: &String| text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let commit = commit.or_else(|| Some(revision.clone())).filter(is_whole).ok_or_else(|| {
        Error::new(ErrorKind::Network, "the archive does not say which commit it is of")
            .with("url", &url)
            .hint("give the whole commit: --revision")
    })?;
    if is_pinned(rows) && !commit.starts_with(revision.as_str()) {
        return Err(Error::new(ErrorKind::Corrupt, "the archive is of another commit than was asked for")
            .with("url", &url)
            .with("commit", commit)
            .hint("nothing of it was kept"));
    }
    let complete = Complete { repo: repo.clone(), commit: commit.clone(), patterns: patterns_of(rows), files };
    let text = serde_json::to_vec_pretty(&complete);
    let text = text.map_err(|e| Error::new(ErrorKind::Check, e.to_string()).caused_by(e))?;
    store::write_atomically(&folder.path().join(COMPLETE), &text)?;
    let place = cache.join(&commit);
    match std::fs::rename(folder.path(), &place) {
        Ok(()) => drop(folder.keep()),
        // Another process was faster, and its files are the same; or they are of other patterns, and these take their place.
        Err(_there) if place.join(COMPLETE).exists() => {
            if read_complete(&place)?.patterns != patterns_of(rows) {
                std::fs::remove_dir_all(&place).map_err(|e| Error::io(&place, "replace", e))?;
                std::fs::rename(folder.path(), &place).map_err(|e| Error::io(&place, "write", e))?;
                drop(folder.keep());
            }
        }
        Err(e) => return Err(Error::io(&place, "write", e)),
    }
    Ok(place)
}

fn options() -> MatchOptions {
    MatchOptions { require_literal_separator: true, ..MatchOptions::new() }
}

fn put(path: &Path, content: &mut dyn Read) -> Result<()> {
    store::copy_atomically(path, content).map(|_| ())
}

fn read_complete(folder: &Path) -> Result<Complete> {
    let file = folder.join(COMPLETE);
    let text = std::fs::read(&file).map_err(|e| Error::io(&file, "read", e))?;
    serde_json::from_slice(&text).map_err(|e| {
        Error::new(ErrorKind::Corrupt, format!("not what was written here: {e}"))
            .with("file", file.display())
            .hint("remove the folder and fetch again")
            .caused_by(e)
    })
}

/// The files that rows name, each held against its size and digest where the row has them; one with a digest must be there.
fn checked(rows: &[RemoteFile], folder: &Path) -> Result<Vec<(String, Fetched)>> {
    let complete = read_complete(folder)?;
    let mut found: Vec<(String, Fetched)> = Vec::new();
    for row in rows {
        let pattern = Pattern::new(&row.file)
            .map_err(|e| Error::new(ErrorKind::Config, format!("data/files.csv: {e}")).caused_by(e))?;
        let mut matching = complete.files.iter().filter(|name| pattern.matches_with(name, options())).peekable();
        let wrong = |what: String| {
            Error::new(ErrorKind::Corrupt, format!("not the files that they should be: {what}"))
                .with("file", &row.file)
                .with("repository", &row.repo)
                .with("revision", &row.revision)
                .with("cache", folder.display())
                .hint("remove the folder and fetch again; another revision has other files (--revision)")
        };
        if row.sha256.is_some() && matching.peek().is_none() {
            return Err(wrong("it is not in the archive".into()));
        }
        for name in matching {
            let path = folder.join(name);
            let file = File::from(path.as_path());
            let (bytes, sha256) = (file.size()?.unwrap_or_default(), file.sha256()?);
            if let Some(wanted) = row.sha256.as_ref().filter(|wanted| **wanted != sha256) {
                return Err(wrong(format!("{name} has SHA-256 {sha256} where {wanted} is due")));
            }
            if let Some(wanted) = row.bytes.filter(|wanted| *wanted != bytes) {
                return Err(wrong(format!("{name} has {bytes} bytes where {wanted} are due")));
            }
            let is_checked = row.sha256.is_some();
            let fetched = Fetched { path, commit: complete.commit.clone(), bytes, sha256, is_checked };
            found.push((name.clone(), fetched));
        }
    }
    if found.is_empty() {
        let names: Vec<&str> = rows.iter().map(|row| row.file.as_str()).collect();
        return Err(Error::new(ErrorKind::Network, "the repository has none of the dataset's files at this revision")
            .with("looked for", names.join(", "))
            .with("commit", complete.commit)
            .hint("another revision may: --revision"));
    }
    Ok(found)
}
