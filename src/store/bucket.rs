//! A bucket of S3, a container of Azure, a bucket of Google: opened once for each URL, shared by all that is in it.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use futures::TryStreamExt;
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};
use url::Url;

use super::cache::Cache;
use super::{BUCKET_SCHEMES, explain, wait};
use crate::error::{Error, ErrorKind, Result};

/// A bucket.
pub struct Bucket {
    /// `scheme://host`, its place in an engine's registry.
    url: Url,
    store: Arc<dyn ObjectStore>,
    /// The same for engines.
    cache: Arc<Cache>,
    /// Where credentials were looked for in vain before the machine's metadata service was asked.
    in_vain: Option<String>,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())
    }
}

static OPENED: OnceLock<Mutex<HashMap<String, Arc<Bucket>>>> = OnceLock::new();

impl Bucket {
    /// Splits a URL into its bucket and the key in it, letter by letter as written; nothing is asked of the store yet.
    pub(super) fn of_url(text: &str) -> Result<(Arc<Self>, Path)> {
        let wrong = |message: String| {
            Error::new(ErrorKind::Usage, message)
                .with("url", super::redact(text))
                .hint("s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX")
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("not a URL".into()))?;
        if !BUCKET_SCHEMES.contains(&scheme) {
            return Err(wrong(format!("`{scheme}://` is no store")));
        }
        let (host, key) = rest.split_once('/').unwrap_or((rest, ""));
        if host.contains('@') && !scheme.starts_with("abfs") {
            return Err(wrong("credentials do not belong into a URL: docs/stores.md lists the variables".into()));
        }
        if key.starts_with('/') {
            return Err(wrong("a key begins without a slash".into()));
        }
        if host.is_empty() {
            return Err(wrong("the URL names no bucket".into()));
        }
        let key = Path::parse(key.trim_end_matches('/')).map_err(|e| wrong(format!("no key of an object: {e}")))?;
        let name = format!("{scheme}://{host}");
        let opened = || OPENED.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        let known = opened().get(&name).cloned();
        if let Some(bucket) = known {
            return Ok((bucket, key));
        }
        let url = Url::parse(&name).map_err(|e| wrong(format!("not a URL: {e}")))?;
        let (store, in_vain) = open(&url)?;
        let bucket = Arc::new(Self { cache: Arc::new(Cache::new(Arc::clone(&store))), store, url, in_vain });
        // Of two threads that open it at a time the first one's is kept.
        Ok((Arc::clone(opened().entry(name).or_insert(bucket)), key))
    }

    /// `scheme://host`.
    pub(crate) fn name(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    /// Its place in an engine's registry, and the store to put there.
    pub(crate) fn registered(&self) -> (&Url, Arc<dyn ObjectStore>) {
        (&self.url, Arc::clone(&self.cache) as _)
    }

    pub(super) fn store(&self) -> Arc<dyn ObjectStore> {
        Arc::clone(&self.store)
    }

    /// Whether there is an object below a prefix.
    pub(super) fn holds_something(&self, prefix: &Path) -> Result<bool> {
        let (store, prefix, name) = (self.store(), prefix.clone(), self.name().to_owned());
        wait(async move {
            let is_written = |meta: &ObjectMeta| {
                let name = meta.location.filename().unwrap_or_default().to_owned();
                futures::future::ready(!name.starts_with(super::TEMPORARY))
            };
            let first = store.list(Some(&prefix)).try_filter(is_written).try_next().await;
            first.map(|found| found.is_some()).map_err(|e| explain(format!("{name}/{prefix}"), "list", e))
        })
    }

    /// Every object below a prefix, by key.
    pub(super) fn list(&self, prefix: &Path) -> Result<Vec<ObjectMeta>> {
        let (store, prefix, name) = (self.store(), prefix.clone(), self.name().to_owned());
        let listed = wait(async move {
            let listed: Result<Vec<ObjectMeta>, _> = store.list(Some(&prefix)).try_collect().await;
            let mut listed = listed.map_err(|e| explain(format!("{name}/{prefix}"), "list", e))?;
            listed.sort_by(|a, b| a.location.cmp(&b.location));
            Ok(listed)
        })?;
        self.cache.learn(&listed);
        Ok(listed)
    }
}

#[cfg(feature = "cloud")]
fn open(url: &Url) -> Result<(Arc<dyn ObjectStore>, Option<String>)> {
    super::credentials::open(url)
}

#[cfg(not(feature = "cloud"))]
fn open(url: &Url) -> Result<(Arc<dyn ObjectStore>, Option<String>)> {
    Err(Error::new(ErrorKind::Usage, "this scorelake was built without stores")
        .with("url", url)
        .hint("build it with the feature `cloud`, which is on by default"))
}

/// Where credentials of a place's bucket were looked for in vain.
pub(super) fn looked_for_in_vain(place: &str) -> Option<String> {
    let opened = OPENED.get()?.lock().unwrap_or_else(PoisonError::into_inner);
    let is_in = |bucket: &&Arc<Bucket>| {
        place.strip_prefix(bucket.name()).is_some_and(|inside| inside.is_empty() || inside.starts_with('/'))
    };
    opened.values().find(is_in)?.in_vain.clone()
}

/// An object in a bucket.
#[derive(Debug, Clone)]
pub struct Object {
    pub(super) bucket: Arc<Bucket>,
    pub(super) key: Path,
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.bucket.url == other.bucket.url && self.key == other.key
    }
}

impl Eq for Object {}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.bucket.name(), self.key)
    }
}

impl Object {
    /// The bucket that it is in.
    pub(crate) fn bucket(&self) -> &Arc<Bucket> {
        &self.bucket
    }

    /// What an engine's last reading of the bucket failed with, once.
    pub(crate) fn failure(&self) -> Option<Error> {
        let (key, source) = self.bucket.cache.failure()?;
        Some(explain(format!("{}/{key}", self.bucket.name()), "read", source))
    }

    /// The size that a listing of this process told, of a file that never changes under its name.
    pub(crate) fn listed_size(&self) -> Option<u64> {
        self.bucket.cache.size(&self.key)
    }

    /// Its URL, escaped as URLs are.
    pub(crate) fn url(&self) -> Url {
        let mut url = self.bucket.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.clear().extend(self.key.parts().map(|part| part.as_ref().to_owned()));
        }
        url
    }

    /// Size, time of change and version; `None` if it is not there.
    pub(crate) fn head(&self) -> Result<Option<ObjectMeta>> {
        let (store, key, place) = (self.bucket.store(), self.key.clone(), self.to_string());
        wait(async move {
            match store.head(&key).await {
                Ok(meta) => Ok(Some(meta)),
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(e) => Err(explain(place, "ask for", e)),
            }
        })
    }
}
