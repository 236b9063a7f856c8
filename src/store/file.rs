//! A file on disk, an object in a bucket or a page of the web: read whole, by range, or as a stream; written whole or not at all.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use object_store::{ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion};

use super::chunks::Chunks;
use super::{Object, Web, explain, stream, wait};
use crate::error::{Error, ErrorKind, Result};

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum File {
    /// On disk.
    Disk(PathBuf),
    /// In a bucket.
    Object(Object),
    /// On the web; to read only.
    Web(Web),
}

/// How often a small object is asked for whose bytes break off.
const BODIES: u32 = 3;

/// What tells the content of a file from another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    size: u64,
    modified: Option<std::time::SystemTime>,
    tag: Option<String>,
}

/// What a conditional write is held against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Version {
    /// The file was not there.
    Absent,
    /// It was there as the store named that state.
    Known(UpdateVersion),
    /// On disk, where a lock is held instead.
    Locked,
}

/// What became of a conditional write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// The file is as written.
    Done,
    /// Another writer was faster; nothing was changed.
    Refused,
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disk(path) => write!(f, "{}", path.display()),
            Self::Object(object) => write!(f, "{object}"),
            Self::Web(web) => write!(f, "{web}"),
        }
    }
}

impl From<PathBuf> for File {
    fn from(path: PathBuf) -> Self {
        Self::Disk(path)
    }
}

impl From<&Path> for File {
    fn from(path: &Path) -> Self {
        Self::Disk(path.to_path_buf())
    }
}

impl File {
    /// Its size; `None` if it is not there.
    pub fn size(&self) -> Result<Option<u64>> {
        match self {
            Self::Disk(path) => match std::fs::metadata(path) {
                Ok(metadata) => Ok(Some(metadata.len())),
                Err(e) if is_absent(&e) => Ok(None),
                Err(e) => Err(Error::io(path, "read", e)),
            },
            Self::Object(object) => Ok(object.head()?.map(|meta| meta.size)),
            Self::Web(web) => Ok(web.size),
        }
    }

    /// What tells its content from another one, without reading it.
    pub fn stamp(&self) -> Result<Stamp> {
        match self {
            // A file system without times of change has none before and after.
            Self::Disk(path) => {
                let metadata = std::fs::metadata(path).map_err(|e| Error::io(path, "read", e))?;
                Ok(Stamp { size: metadata.len(), modified: metadata.modified().ok(), tag: None })
            }
            Self::Object(object) => {
                let meta = object.head()?.ok_or_else(|| self.absent())?;
                Ok(Stamp { size: meta.size, modified: Some(meta.last_modified.into()), tag: meta.e_tag })
            }
            // Each opening is held against it.
            Self::Web(web) => Ok(Stamp { size: web.size.unwrap_or_default(), modified: None, tag: web.tag.clone() }),
        }
    }

    /// When it was last written, where the system says so and it is there.
    pub fn modified(&self) -> Result<Option<std::time::SystemTime>> {
        match self {
            Self::Disk(path) => Ok(std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok()),
            Self::Object(object) => Ok(object.head()?.map(|meta| meta.last_modified.into())),
            Self::Web(_) => Ok(None),
        }
    }

    /// Whether its stamp tells one content from another of the same size.
    pub fn is_told_apart(&self) -> bool {
        !matches!(self, Self::Web(web) if web.tag.is_none())
    }

    fn absent(&self) -> Error {
        Error::io(self.to_string(), "read", std::io::ErrorKind::NotFound.into())
    }

    /// All of it, and the version to write over; `None` if it is not there.
    pub fn read_versioned(&self) -> Result<Option<(Vec<u8>, Version)>> {
        match self {
            Self::Disk(path) => match std::fs::read(path) {
                Ok(bytes) => Ok(Some((bytes, Version::Locked))),
                Err(e) if is_absent(&e) => Ok(None),
                Err(e) => Err(Error::io(path, "read", e)),
            },
            Self::Object(object) => {
                let (store, key, place) = (object.bucket.store(), object.key.clone(), self.to_string());
                wait(async move {
                    // A body that breaks off is asked for again; the client does so with answers alone.
                    let mut attempts = 0;
                    loop {
                        let got = match store.get(&key).await {
                            Err(e @ object_store::Error::NotFound { .. })
                                if !e.to_string().contains("NoSuchBucket") =>
                            {
                                return Ok(None);
                            }
                            got => got.map_err(|e| explain(&place, "read", e))?,
                        };
                        let version =
                            UpdateVersion { e_tag: got.meta.e_tag.clone(), version: got.meta.version.clone() };
                        attempts += 1;
                        match got.bytes().await {
                            Ok(bytes) => return Ok(Some((bytes.to_vec(), Version::Known(version)))),
                            Err(e) if attempts == BODIES => return Err(explain(&place, "read", e)),
                            Err(_cut) => {}
                        }
                    }
                })
            }
            Self::Web(_) => {
                let mut bytes = Vec::new();
                self.stream()?.read_to_end(&mut bytes).map_err(|e| Error::reading(self, e))?;
                Ok(Some((bytes, Version::Absent)))
            }
        }
    }

    /// All of it; `None` if it is not there.
    pub fn read(&self) -> Result<Option<Vec<u8>>> {
        Ok(self.read_versioned()?.map(|(bytes, _)| bytes))
    }

    /// All of it; an error if it is not there.
    pub fn read_required(&self) -> Result<Vec<u8>> {
        self.read()?.ok_or_else(|| self.absent())
    }

    /// Its bytes as they come.
    pub fn stream(&self) -> Result<Box<dyn Read + Send>> {
        match self {
            Self::Disk(path) => {
                let file = std::fs::File::open(path).map_err(|e| Error::io(path, "open", e))?;
                Ok(Box::new(file))
            }
            Self::Object(object) => Ok(Box::new(stream::open(object.clone())?)),
            Self::Web(web) => Ok(Box::new(stream::open(web.clone())?)),
        }
    }

    /// Writes it, whatever is there.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Disk(path) => super::folder::write_atomically(path, bytes),
            Self::Object(_) | Self::Web(_) => self.put(bytes, PutMode::Overwrite).map(|_| ()),
        }
    }

    /// Writes it if it is still as it was: the one act that publishes in a bucket. On disk the caller holds the lock.
    pub fn write_if(&self, bytes: &[u8], version: &Version) -> Result<Written> {
        match (self, version) {
            (Self::Disk(path), _) => super::folder::write_atomically(path, bytes).map(|()| Written::Done),
            (_, Version::Known(version)) => self.put(bytes, PutMode::Update(version.clone())),
            (_, Version::Absent | Version::Locked) => self.put(bytes, PutMode::Create),
        }
    }

    fn put(&self, bytes: &[u8], mode: PutMode) -> Result<Written> {
        let Self::Object(object) = self else { return Err(self.cannot_be_written()) };
        let (store, key, place) = (object.bucket.store(), object.key.clone(), self.to_string());
        let payload = PutPayload::from(bytes.to_vec());
        wait(async move {
            use object_store::Error::{AlreadyExists, Precondition};
            match store.put_opts(&key, payload, PutOptions::from(mode)).await {
                Ok(_) => Ok(Written::Done),
                Err(AlreadyExists { .. } | Precondition { .. }) => Ok(Written::Refused),
                Err(e) => Err(explain(place, "write", e)),
            }
        })
    }

    /// Removes it; that it is gone already is no error.
    pub fn remove(&self) -> Result<()> {
        match self {
            Self::Disk(path) => match std::fs::remove_file(path) {
                Err(e) if !is_absent(&e) => Err(Error::io(path, "remove", e)),
                _ => Ok(()),
            },
            Self::Object(object) => {
                let (store, key, place) = (object.bucket.store(), object.key.clone(), self.to_string());
                wait(async move {
                    match store.delete(&key).await {
                        Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
                        Err(e) => Err(explain(place, "remove", e)),
                    }
                })
            }
            Self::Web(_) => Err(self.cannot_be_written()),
        }
    }

    fn cannot_be_written(&self) -> Error {
        Error::new(ErrorKind::Usage, "a file that can only be read").with("file", self)
    }

    /// SHA-256, in hexadecimal.
    pub fn sha256(&self) -> Result<String> {
        stream::digest_of(&mut *self.stream()?).map_err(|e| Error::reading(self, e))
    }

    /// For reading Parquet by range.
    pub fn chunks(&self) -> Result<Chunks> {
        let size = self.size()?.ok_or_else(|| self.absent())?;
        match self {
            Self::Disk(path) => {
                let file = std::fs::File::open(path).map_err(|e| Error::io(path, "open", e))?;
                Ok(Chunks::of_disk(file, size))
            }
            Self::Object(object) => Ok(Chunks::of_object(object.clone(), size)),
            Self::Web(_) => Err(Error::new(ErrorKind::Usage, "Parquet is not read from the web").with("file", self)),
        }
    }
}

/// Whether there is nothing of that name: no such file, or a file where a folder would have to be.
pub(super) fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}
