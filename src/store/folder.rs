//! A folder on disk, or a prefix of a bucket.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use object_store::path::Path as Key;

use super::file::is_absent;
use super::{BUCKET_SCHEMES, Bucket, File, Object};
use crate::error::{Error, ErrorKind, Result};

/// A folder.
#[derive(Debug, Clone)]
pub enum Folder {
    /// On disk.
    Disk(PathBuf),
    /// A prefix: the objects whose keys begin with it and a slash.
    Bucket(Arc<Bucket>, Key),
}

/// A file in a folder, or in one below.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The file.
    pub file: File,
    /// Where it is, seen from the folder; `/` between names.
    pub inside: String,
    /// Its size.
    pub bytes: u64,
    /// When it was last written, where the system says so.
    pub modified: Option<SystemTime>,
}

/// Names of files that are being written begin so.
pub(crate) const TEMPORARY: &str = ".writing-";

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk(path) => write!(f, "{}", path.display()),
            Self::Bucket(bucket, prefix) if prefix.as_ref().is_empty() => f.write_str(bucket.name()),
            Self::Bucket(bucket, prefix) => write!(f, "{}/{prefix}", bucket.name()),
        }
    }
}

impl PartialEq for Folder {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Disk(a), Self::Disk(b)) => a == b,
            (Self::Bucket(..), Self::Bucket(..)) => self.to_string() == other.to_string(),
            _ => false,
        }
    }
}

impl Folder {
    /// The folder that a path or a URL names.
    pub fn named(name: &Path) -> Result<Self> {
        let text = name.to_str().unwrap_or_default();
        if is_half_url(text) {
            return Err(Error::new(ErrorKind::Usage, "neither a path nor a URL")
                .with("name", text)
                .hint(format!("did you mean {}? A folder of that name is ./{text}", text.replacen(":/", "://", 1))));
        }
        if !text.contains("://") {
            return Ok(Self::Disk(name.to_path_buf()));
        }
        let scheme = text.split("://").next().unwrap_or_default();
        if scheme == "file" {
            let path = url::Url::parse(text).ok().and_then(|url| url.to_file_path().ok());
            return path.map(Self::Disk).ok_or_else(|| {
                Error::new(ErrorKind::Usage, "not a folder of this machine").with("url", text).hint("file:///FOLDER")
            });
        }
        if !BUCKET_SCHEMES.contains(&scheme) {
            return Err(Error::new(ErrorKind::Usage, format!("`{scheme}://` holds no folder that can be written"))
                .with("url", super::redact(text))
                .hint("a folder, or s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX"));
        }
        let (bucket, prefix) = Bucket::of_url(text)?;
        Ok(Self::Bucket(bucket, prefix))
    }

    /// Its path, if it is on disk.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Disk(path) => Some(path),
            Self::Bucket(..) => None,
        }
    }

    /// A folder in it; `/` between names.
    pub fn join(&self, inside: &str) -> Self {
        match self {
            Self::Disk(path) => Self::Disk(path.join(inside)),
            Self::Bucket(bucket, prefix) => Self::Bucket(Arc::clone(bucket), below(prefix, inside)),
        }
    }

    /// A file in it; `/` between names.
    pub fn file(&self, inside: &str) -> File {
        match self {
            Self::Disk(path) => File::Disk(path.join(inside)),
            Self::Bucket(bucket, prefix) => {
                File::Object(Object { bucket: Arc::clone(bucket), key: below(prefix, inside) })
            }
        }
    }

    /// Its last name.
    pub fn name(&self) -> String {
        match self {
            Self::Disk(path) => path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            Self::Bucket(_, prefix) => prefix.filename().unwrap_or_default().to_owned(),
        }
    }

    /// Whether there is anything in it, but for what another process is about to write.
    pub fn holds_something(&self) -> Result<bool> {
        match self {
            Self::Disk(path) => {
                let entries = std::fs::read_dir(path).map_err(|e| Error::io(path, "list", e))?;
                Ok(entries.flatten().any(|entry| !entry.file_name().to_string_lossy().starts_with(TEMPORARY)))
            }
            Self::Bucket(bucket, prefix) => bucket.holds_something(prefix),
        }
    }

    /// Every file in it and below, by name; none if it is not there.
    pub fn files(&self) -> Result<Vec<Entry>> {
        match self {
            Self::Disk(path) => {
                let mut entries = Vec::new();
                walk(path, "", &mut entries)?;
                entries.sort_by(|a, b| a.inside.cmp(&b.inside));
                Ok(entries)
            }
            Self::Bucket(bucket, prefix) => {
                let skipped = if prefix.as_ref().is_empty() { 0 } else { prefix.as_ref().len() + 1 };
                let entry = |meta: object_store::ObjectMeta| Entry {
                    inside: meta.location.as_ref().get(skipped..).unwrap_or_default().to_owned(),
                    bytes: meta.size,
                    modified: Some(meta.last_modified.into()),
                    file: File::Object(Object { bucket: Arc::clone(bucket), key: meta.location }),
                };
                // A store may list a placeholder of the folder itself, with nothing in it.
                let entries = bucket.list(prefix)?.into_iter().map(entry);
                Ok(entries.filter(|entry| !entry.inside.is_empty()).collect())
            }
        }
    }
}

/// Whether a name is a place in a bucket.
pub(crate) fn is_remote(name: &Path) -> bool {
    let scheme = name.to_str().and_then(|text| text.split_once("://")).map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| BUCKET_SCHEMES.contains(&scheme))
}

/// Whether a text looks like a URL that lost a slash.
pub(crate) fn is_half_url(text: &str) -> bool {
    let schemes = BUCKET_SCHEMES.iter().chain(&["hf", "http", "https", "file"]);
    let mut rests = schemes.filter_map(|scheme| text.strip_prefix(scheme)?.strip_prefix(":/"));
    rests.any(|rest| !rest.starts_with('/'))
}

/// Whether a text is the name of a file in a folder, and of none elsewhere. Names that are read from a manifest are held against it: a lake or a
/// snapshot may be a stranger's.
pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text != "." && text != ".." && !text.contains(['/', '\\', ':', '\0'])
}

fn below(prefix: &Key, inside: &str) -> Key {
    inside.split('/').filter(|name| !name.is_empty()).fold(prefix.clone(), |key, name| key.join(name))
}

fn walk(dir: &Path, inside: &str, entries: &mut Vec<Entry>) -> Result<()> {
    let listed = match std::fs::read_dir(dir) {
        Ok(listed) => listed,
        Err(e) if is_absent(&e) => return Ok(()),
        Err(e) => return Err(Error::io(dir, "list", e)),
    };
    for entry in listed {
        let entry = entry.map_err(|e| Error::io(dir, "list", e))?;
        let path = entry.path();
        let name = format!("{inside}{}", entry.file_name().to_string_lossy());
        // Another process may remove it meanwhile.
        let metadata = match std::fs::metadata(&path) {
            Err(e) if is_absent(&e) => continue,
            metadata => metadata.map_err(|e| Error::io(&path, "read", e))?,
        };
        if metadata.is_dir() {
            walk(&path, &format!("{name}/"), entries)?;
        } else {
            let (bytes, modified) = (metadata.len(), metadata.modified().ok());
            entries.push(Entry { file: File::Disk(path), inside: name, bytes, modified });
        }
    }
    Ok(())
}

/// Writes a file under another name, syncs it and renames it into place.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    copy_atomically(path, &mut &*bytes).map(|_| ())
}

/// The same from a reader, however much it gives; tells how much.
pub(crate) fn copy_atomically(path: &Path, from: &mut dyn Read) -> Result<u64> {
    let parent = parent(path);
    std::fs::create_dir_all(parent).map_err(|e| Error::io(parent, "make the folder", e))?;
    let mut temporary = tempfile::Builder::new()
        .prefix(TEMPORARY)
        .tempfile_in(parent)
        .map_err(|e| Error::io(parent, "write in the folder", e))?;
    let copied = std::io::copy(from, &mut temporary).map_err(|e| match e.downcast::<Error>() {
        Ok(ours) => ours,
        Err(e) => Error::io(path, "write", e),
    })?;
    temporary.as_file().sync_all().map_err(|e| Error::io(path, "write", e))?;
    make_readable(temporary.as_file(), path)?;
    temporary.persist(path).map_err(|e| Error::io(path, "write", e.error))?;
    sync_dir(parent)?;
    Ok(copied)
}

/// Temporary files are private to their owner; published ones are as any new file.
#[cfg(unix)]
fn make_readable(file: &std::fs::File, path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644)).map_err(|e| Error::io(path, "write", e))
}

#[cfg(not(unix))]
fn make_readable(_file: &std::fs::File, _path: &Path) -> Result<()> {
    Ok(())
}

/// Makes renames in a folder last.
pub(crate) fn sync_dir(dir: &Path) -> Result<()> {
    if cfg!(unix) {
        std::fs::File::open(dir).and_then(|dir| dir.sync_all()).map_err(|e| Error::io(dir, "sync the folder", e))?;
    }
    Ok(())
}

/// The folder that a file is in.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
