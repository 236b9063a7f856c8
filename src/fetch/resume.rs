//! A download that was cut is gone on with where it ended. hf-hub leaves what came beside the place of the whole file, and begins anew; the rest is
//! asked for here, under the lock that hub tools share, and hf-hub then finds the file whole.

use std::fs::File;
use std::io::Write;
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
    let url = format!("{}/datasets/{}/resolve/{}/{}", environment.endpoint, file.repo, file.revision, file.file);
    let token = environment.token.as_ref().map(|token| format!("Bearer {}", token.secret));
    // What the file is called in the cache, the hub says; a beginning of another file is none of this one.
    let Some((name, size)) = named(url.clone(), token.clone())? else { return Ok(Came::Nowhere) };
    let part = cache.join(&folder).join("blobs").join(format!("{name}{INCOMPLETE}"));
    if total == 0 || size != total || !part.exists() {
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
        let is_digest = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_digest && store::File::from(part.as_path()).sha256()? != name {
            std::fs::remove_file(&part).map_err(|e| Error::io(&part, "remove", e))?;
            return Ok(Came::Nowhere);
        }
        let whole = part.with_file_name(&name);
        std::fs::rename(&part, &whole).map_err(|e| Error::io(&whole, "write", e))?;
    }
    Ok(came)
}

/// The name that the hub's tools give a file by what the hub says of it, and its size.
fn named(url: String, token: Option<String>) -> Result<Option<(String, u64)>> {
    store::wait(async move {
        let mut request = store::client_without_redirects()?.head(&url);
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, token);
        }
        let Ok(answer) = request.send().await else { return Ok(None) };
        let header = |names: [&str; 2]| {
            names.iter().find_map(|name| Some(answer.headers().get(*name)?.to_str().ok()?.to_owned()))
        };
        let name =
            header(["x-linked-etag", "etag"]).map(|tag| tag.trim_start_matches("W/").trim_matches('"').to_owned());
        let size = header(["x-linked-size", "content-length"]).and_then(|size| size.parse().ok());
        // It becomes the name of a file.
        let name = name.filter(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'));
        Ok(name.zip(size))
    })
}
