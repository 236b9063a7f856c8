//! A download that was cut is gone on with where it ended. hf-hub leaves what came beside the place of the whole file, and begins anew; the rest is
//! asked for here, under the lock that hub tools share, and hf-hub then finds the file whole.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::StreamExt;
use reqwest::StatusCode;
use reqwest::header::{AUTHORIZATION, CONTENT_RANGE, RANGE};

use super::hub::Progress;
use super::{Environment, RemoteFile};
use crate::error::{Error, Result};
use crate::store;

const INCOMPLETE: &str = ".incomplete";
/// A connection on which nothing comes for so long is taken for cut.
const SILENCE: Duration = Duration::from_secs(60);

/// How far a download came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Came {
    /// The file is whole.
    Whole,
    /// It is longer than before.
    Further,
    /// There is no beginning of it, another process is at it, or the server gives no ranges: it begins anew.
    Nowhere,
}

/// Fetches the rest of a file of so many bytes.
pub(super) fn finish(environment: &Environment, file: &RemoteFile, total: u64, progress: &Progress) -> Result<Came> {
    let Some(cache) = &environment.cache else { return Ok(Came::Nowhere) };
    let folder = format!("datasets--{}", file.repo.replace('/', "--"));
    let Some((part, name)) = begun(&cache.join(&folder).join("blobs"))? else { return Ok(Came::Nowhere) };
    let is_commit = |text: &str| text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Of a branch only a file that is named by its SHA-256 can be told from a newer one; that digest is checked afterwards.
    if total == 0 || !(is_commit(&file.revision) || name.len() == 64) {
        return Ok(Came::Nowhere);
    }
    let lock = cache.join(".locks").join(&folder).join(format!("{name}.lock"));
    let Some(_lock) = File::options().create(true).append(true).open(lock).ok().filter(|lock| lock.try_lock().is_ok())
    else {
        return Ok(Came::Nowhere);
    };
    let mut to = File::options().append(true).open(&part).map_err(|e| Error::io(&part, "write", e))?;
    let at = to.metadata().map_err(|e| Error::io(&part, "read", e))?.len();
    if at >= total {
        return Ok(Came::Nowhere);
    }
    let url = format!("{}/datasets/{}/resolve/{}/{}", environment.endpoint, file.repo, file.revision, file.file);
    let token = environment.token.as_ref().map(|token| format!("Bearer {}", token.secret));
    let (progress, path) = (progress.clone(), part.clone());
    let came = store::wait(async move {
        let mut request = store::client()?.get(&url).header(RANGE, format!("bytes={at}-"));
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, token);
        }
        // What goes wrong here is no worse than what went wrong before: the next attempt tells.
        let Ok(answer) = request.send().await else { return Ok(Came::Nowhere) };
        let range = answer.headers().get(CONTENT_RANGE).and_then(|range| range.to_str().ok());
        if answer.status() != StatusCode::PARTIAL_CONTENT || range != Some(&format!("bytes {at}-{}/{total}", total - 1))
        {
            return Ok(Came::Nowhere);
        }
        let (mut bytes, mut done) = (answer.bytes_stream(), at);
        while let Ok(Some(Ok(piece))) = tokio::time::timeout(SILENCE, bytes.next()).await {
            to.write_all(&piece).map_err(|e| Error::io(&path, "write", e))?;
            done += piece.len() as u64;
            progress(done, total);
        }
        to.sync_all().map_err(|e| Error::io(&path, "write", e))?;
        Ok(match done {
            done if done == total => Came::Whole,
            done if done > at => Came::Further,
            _ => Came::Nowhere,
        })
    })?;
    if came == Came::Whole {
        let whole = part.with_file_name(&name);
        std::fs::rename(&part, &whole).map_err(|e| Error::io(&whole, "write", e))?;
    }
    Ok(came)
}

/// The beginning of a file, and the name that the whole one will have; none if there is not exactly one.
fn begun(blobs: &Path) -> Result<Option<(PathBuf, String)>> {
    let mut found = None;
    let entries = match std::fs::read_dir(blobs) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(Error::io(blobs, "list", e)),
    };
    for entry in entries {
        let path = entry.map_err(|e| Error::io(blobs, "list", e))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let Some(name) = name.strip_suffix(INCOMPLETE) else { continue };
        let name = name.to_owned();
        if found.replace((path, name)).is_some() {
            return Ok(None);
        }
    }
    Ok(found)
}
