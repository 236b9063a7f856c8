//! Upkeep: what a lake holds, taking a source out again, removing what nothing names, and a copy that is verified.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::duplicates::{self, OnConflict};
use super::manifest::{Manifest, Part, SourceEntry};
use super::publish::{lock, named_files, orphans};
use super::session::EngineOptions;
use super::{Lake, staging, write_atomically};
use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::source;

/// How much a table of a dataset holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableSize {
    /// Parquet files.
    pub parts: u64,
    /// Rows.
    pub rows: u64,
    /// Bytes.
    pub bytes: u64,
}

/// The size of each table of a manifest, `rejects` and `set_aside` among them.
pub fn sizes(manifest: &Manifest) -> BTreeMap<String, TableSize> {
    let mut sizes: BTreeMap<String, TableSize> = BTreeMap::new();
    let mut add = |table: &str, part: &Part| {
        let size = sizes.entry(table.to_owned()).or_default();
        size.parts += 1;
        size.rows += part.rows;
        size.bytes += part.bytes;
    };
    for source in &manifest.sources {
        for (table, parts) in &source.parts {
            parts.iter().for_each(|part| add(table, part));
        }
        source.rejects.iter().for_each(|part| add("rejects", part));
    }
    manifest.set_aside_part.iter().for_each(|part| add("set_aside", part));
    sizes
}

/// What was removed, or copied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moved {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Moved {
    pub(super) fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
    }
}

/// What became of the files of a dataset that nothing names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collected {
    /// They are gone.
    Removed(Moved),
    /// They stay for now: another process reads the dataset, perhaps these files.
    InUse,
}

/// Removes the files of a dataset that its manifest does not name.
pub fn collect_garbage(lake: &Lake, dataset: &str) -> Result<Collected> {
    if !lake.dataset_dir(dataset).exists() {
        return Ok(Collected::Removed(Moved::default()));
    }
    let _lock = lock(lake, dataset)?;
    let manifest = Manifest::load(lake, dataset)?;
    let Some(_no_reader) = lake.without_readers(dataset) else { return Ok(Collected::InUse) };
    let mut removed = Moved::default();
    for path in orphans(lake, &manifest) {
        let bytes = std::fs::metadata(&path).map_err(|e| Error::io(&path, "read", e))?.len();
        std::fs::remove_file(&path).map_err(|e| Error::io(&path, "remove", e))?;
        removed.add(bytes);
    }
    Ok(Collected::Removed(removed))
}

/// Removes the staged work that no process holds: what an ingest that was cut short would have gone on with.
pub fn collect_staging(lake: &Lake) -> Result<Moved> {
    staging::remove_unheld(lake)
}

/// Takes sources out of a dataset: named by a place they were read from, the end of one, or the beginning of their key. What other sources
/// say about the same things counts again. Snapshots keep their own data.
pub fn drop_sources(
    lake: &Lake,
    assets: &Assets,
    options: EngineOptions,
    dataset: &str,
    names: &[String],
) -> Result<Vec<SourceEntry>> {
    let _lock = lock(lake, dataset)?;
    let mut manifest = Manifest::load(lake, dataset)?;
    let mut dropped: Vec<SourceEntry> = Vec::new();
    for name in names {
        let named: Vec<&SourceEntry> = manifest.sources.iter().filter(|source| is_named(source, name)).collect();
        match named.as_slice() {
            [source] => {
                let source = (*source).clone();
                manifest.sources.retain(|other| other.key != source.key);
                dropped.push(source);
            }
            [] if dropped.iter().any(|source| is_named(source, name)) => {}
            [] => {
                return Err(Error::new(ErrorKind::Usage, format!("no source `{name}` in {dataset}"))
                    .with("lake", lake.root().display())
                    .hint("`scorelake lake info --sources` lists them"));
            }
            several => {
                let keys: Vec<String> = several
                    .iter()
                    .map(|source| {
                        format!("{} ({})", source.key.get(..12).unwrap_or(&source.key), source.uris.join(", "))
                    })
                    .collect();
                return Err(Error::new(ErrorKind::Usage, format!("`{name}` is {} sources", several.len()))
                    .hint(format!("name one by its key: {}", keys.join("; "))));
            }
        }
    }
    duplicates::settle(lake, assets, options, &mut manifest, OnConflict::Settle)?;
    manifest.store(lake)?;
    if let Some(_no_reader) = lake.without_readers(dataset) {
        for path in orphans(lake, &manifest) {
            // What stays is named by nothing, and tried again at the next publishing.
            let _gone = std::fs::remove_file(&path);
        }
    }
    Ok(dropped)
}

fn is_named(source: &SourceEntry, name: &str) -> bool {
    const SHORTEST_KEY: usize = 8;
    let is_place = |uri: &String| uri == name || uri.ends_with(name) && uri[..uri.len() - name.len()].ends_with('/');
    source.uris.iter().any(is_place) || name.len() >= SHORTEST_KEY && source.key.starts_with(name)
}

/// Copies a lake to a new folder: the parts that count, the manifests and the snapshots, each file held against its source by SHA-256. A
/// dataset's manifest comes last, so that a copy that is cut short has none that names a missing part.
pub fn copy(lake: &Lake, to: &Path, datasets: &[String]) -> Result<Moved> {
    let target = Lake::create(to)?;
    if target.root() == lake.root() {
        return Err(Error::new(ErrorKind::Usage, "the lake cannot be copied onto itself").with("lake", to.display()));
    }
    let mut copied = Moved::default();
    for dataset in datasets {
        let _reading = lake.reading(dataset)?;
        let manifest = Manifest::load(lake, dataset)?;
        let other = Manifest::load(&target, dataset)?;
        if !other.sources.is_empty() && other != manifest {
            return Err(Error::new(ErrorKind::Conflict, format!("{dataset} is there, and not the same"))
                .with("lake", to.display())
                .hint("copy to a new folder"));
        }
        let mut files: Vec<PathBuf> = named_files(lake, &manifest).into_iter().collect();
        files.extend(snapshot_files(lake, dataset)?);
        files.sort();
        for file in files {
            let inside = file.strip_prefix(lake.root()).map_err(|e| {
                Error::new(ErrorKind::Corrupt, "a file outside the lake").with("file", file.display()).caused_by(e)
            })?;
            copy_file(&file, &target.root().join(inside), &mut copied)?;
        }
        if !manifest.sources.is_empty() {
            manifest.store(&target)?;
        }
    }
    Ok(copied)
}

/// Files of the snapshots of a dataset, and which of them are the latest.
fn snapshot_files(lake: &Lake, dataset: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![lake.snapshots_dir(dataset)];
    while let Some(folder) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => return Err(Error::io(&folder, "list", e)),
        };
        for entry in entries {
            let path = entry.map_err(|e| Error::io(&folder, "list", e))?.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    Ok(files)
}

fn copy_file(from: &Path, to: &Path, copied: &mut Moved) -> Result<()> {
    let wanted = source::digest(from)?;
    if to.exists() && source::digest(to)? == wanted {
        return Ok(());
    }
    let bytes = std::fs::read(from).map_err(|e| Error::io(from, "read", e))?;
    write_atomically(to, &bytes)?;
    if source::digest(to)? != wanted {
        return Err(Error::new(ErrorKind::Corrupt, "the copy is not what was copied")
            .with("file", to.display())
            .hint("something else writes there, or the disk is failing"));
    }
    copied.add(bytes.len() as u64);
    Ok(())
}
