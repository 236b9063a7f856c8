//! Pipelines, SQL, schemas and data files: compiled in, overridden by files of the same name under `--assets DIR`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rust_embed::RustEmbed;

use crate::error::{Error, ErrorKind, Result};

#[derive(RustEmbed)]
#[folder = "pipelines/"]
#[prefix = "pipelines/"]
struct Pipelines;

#[derive(RustEmbed)]
#[folder = "sql/"]
#[prefix = "sql/"]
struct Sql;

#[derive(RustEmbed)]
#[folder = "schemas/"]
#[prefix = "schemas/"]
struct Schemas;

#[derive(RustEmbed)]
#[folder = "data/"]
#[prefix = "data/"]
#[include = "*.csv"]
struct Data;

fn embedded(path: &str) -> Option<rust_embed::EmbeddedFile> {
    Pipelines::get(path).or_else(|| Sql::get(path)).or_else(|| Schemas::get(path)).or_else(|| Data::get(path))
}

/// The files a run is made of.
#[derive(Debug, Clone, Default)]
pub struct Assets {
    root: Option<PathBuf>,
}

impl Assets {
    /// The compiled-in files only.
    pub fn embedded() -> Self {
        Self { root: None }
    }

    /// Files under `root` first, compiled-in ones where it has none.
    pub fn with_root(root: impl Into<PathBuf>) -> Result<Self> {
        let root = root.into();
        if !root.is_dir() {
            return Err(Error::new(ErrorKind::Usage, "--assets names no directory").with("file", root.display()));
        }
        Ok(Self { root: Some(root) })
    }

    /// The text of a file such as `sql/qwen_image_bench/by_facet.sql`.
    pub fn text(&self, path: &str) -> Result<String> {
        let missing =
            || Error::new(ErrorKind::Config, "no such file, neither compiled in nor under --assets").with("file", path);
        if let Some(root) = &self.root {
            let file = root.join(path);
            if file.is_file() {
                return std::fs::read_to_string(&file).map_err(|e| Error::io(&file, "read", e));
            }
        }
        let file = embedded(path).ok_or_else(missing)?;
        let text: Cow<'static, [u8]> = file.data;
        String::from_utf8(text.into_owned())
            .map_err(|e| Error::new(ErrorKind::Config, "not UTF-8").with("file", path).caused_by(e))
    }

    /// The files directly under a folder with this extension, sorted.
    pub fn list(&self, folder: &str, extension: &str) -> Result<Vec<String>> {
        let direct = |path: &str| {
            Path::new(path).parent() == Some(Path::new(folder))
                && Path::new(path).extension().is_some_and(|e| e == extension)
        };
        let all = Pipelines::iter().chain(Sql::iter()).chain(Schemas::iter()).chain(Data::iter());
        let mut paths: BTreeSet<String> = all.map(Cow::into_owned).filter(|path| direct(path)).collect();
        if let Some(root) = &self.root {
            let dir = root.join(folder);
            if dir.is_dir() {
                for entry in std::fs::read_dir(&dir).map_err(|e| Error::io(&dir, "list", e))? {
                    let entry = entry.map_err(|e| Error::io(&dir, "list", e))?;
                    let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
                    if direct(&path) {
                        paths.insert(path);
                    }
                }
            }
        }
        Ok(paths.into_iter().collect())
    }
}
