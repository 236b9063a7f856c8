//! Upkeep: what a lake holds, taking a source out again, removing what nothing names, and a copy that is verified.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::duplicates::{self, OnConflict};
use super::manifest::{Manifest, Part, SourceEntry};
use super::publish::{change, lock, named_files, orphans};
use super::session::EngineOptions;
use super::{Lake, runs, staging};
use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::store::{Entry, File, Folder, Written, copy_atomically, upload_all};

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

/// Removes the files of a dataset that its manifest does not name. On disk locks tell whether someone reads or writes them; in a bucket only
/// age does: what was written within `age` may be of a writer that has not published yet.
pub fn collect_garbage(lake: &Lake, dataset: &str, age: Duration) -> Result<Collected> {
    let is_on_disk = lake.root().path().is_some();
    if lake.dataset_dir(dataset).path().is_some_and(|dir| !dir.exists()) {
        return Ok(Collected::Removed(Moved::default()));
    }
    let _lock = lock(lake, dataset)?;
    let before = SystemTime::now().checked_sub(age);
    let is_old = |entry: &Entry| match (entry.modified, before) {
        (Some(modified), Some(before)) => modified <= before,
        _ => is_on_disk,
    };
    // Listed before the manifest is read: what is published meanwhile is then named.
    let mut leftovers = if is_on_disk { Vec::new() } else { half_snapshots(lake, dataset)? };
    let listed = orphans(lake, &Manifest::empty(dataset))?;
    let manifest = Manifest::load(lake, dataset)?;
    let _no_reader = lake.without_readers(dataset);
    if is_on_disk && _no_reader.is_none() {
        return Ok(Collected::InUse);
    }
    let (tables, rejects) = named_files(&manifest);
    leftovers
        .extend(listed.into_iter().filter(|entry| !tables.contains(&entry.inside) && !rejects.contains(&entry.inside)));
    let mut removed = Moved::default();
    for entry in leftovers.into_iter().filter(is_old) {
        if is_on_disk || is_still_leftover(lake, dataset, &entry, &manifest)? {
            entry.file.remove()?;
            removed.add(entry.bytes);
        }
    }
    Ok(Collected::Removed(removed))
}

/// A writer puts a file anew before it names it: one that is as it was listed, while nothing was published since, is named by nobody.
fn is_still_leftover(lake: &Lake, dataset: &str, entry: &Entry, manifest: &Manifest) -> Result<bool> {
    // A listing tells fractions of a second, and the file itself whole ones.
    let seconds = |time: Option<SystemTime>| time?.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs());
    let is_as_listed = seconds(entry.file.modified()?) == seconds(entry.modified);
    let folder = entry.inside.split_once('/').map(|(folder, _)| folder).unwrap_or_default();
    let is_named = lake.snapshots_dir(dataset).join(folder).file("manifest.json").size()?.is_some();
    Ok(is_as_listed && !is_named && Manifest::load(lake, dataset)? == *manifest)
}

/// Files of snapshots in a bucket whose manifest, which comes last, never came.
fn half_snapshots(lake: &Lake, dataset: &str) -> Result<Vec<Entry>> {
    let files = lake.snapshots_dir(dataset).files()?;
    let folder = |entry: &Entry| entry.inside.split_once('/').map(|(id, _)| id.to_owned());
    let whole: Vec<String> =
        files.iter().filter(|entry| entry.inside.ends_with("/manifest.json")).filter_map(folder).collect();
    Ok(files.into_iter().filter(|entry| folder(entry).is_some_and(|id| !whole.contains(&id))).collect())
}

/// Closes the records of runs in a bucket that began longer ago than `age` and never ended; on disk the next run does.
pub fn close_runs(lake: &Lake, age: Duration) -> Result<u64> {
    runs::close_old(lake, age)
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
    change(lake, dataset, |before| {
        let (mut manifest, dropped) = without(lake, before, names)?;
        duplicates::settle(lake, assets, options, &mut manifest, OnConflict::Settle)?;
        Ok((manifest, dropped))
    })
}

fn without(lake: &Lake, before: &Manifest, names: &[String]) -> Result<(Manifest, Vec<SourceEntry>)> {
    let mut manifest = before.clone();
    let dataset = &before.dataset;
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
                    .with("lake", lake.root())
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
    Ok((manifest, dropped))
}

fn is_named(source: &SourceEntry, name: &str) -> bool {
    const SHORTEST_KEY: usize = 8;
    let is_place = |whole: &String| {
        // A web address may be named without what stands behind its `?`.
        let is_web = whole.starts_with("http");
        let uri = whole.split_once('?').filter(|_| is_web).map_or(whole.as_str(), |(place, _)| place);
        uri == name || whole == name || uri.ends_with(name) && uri[..uri.len() - name.len()].ends_with('/')
    };
    source.uris.iter().any(is_place) || name.len() >= SHORTEST_KEY && source.key.starts_with(name)
}

/// Copies a lake, from disk or a bucket to either: the parts that count, the manifests and the snapshots, each file read back and held
/// against its source by SHA-256. A dataset's manifest comes last, so that a copy that is cut short has none that names a missing part.
pub fn copy(lake: &Lake, to: &Path, datasets: &[String]) -> Result<Moved> {
    let (from, into) = (lake.root().to_string(), absolute(to)?);
    let is_inside = |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if is_inside(&from, &into) || is_inside(&into, &from) {
        return Err(Error::new(ErrorKind::Usage, "a lake cannot be copied onto or into itself")
            .with("lake", from)
            .with("to", into));
    }
    let target = Lake::create(to)?;
    let mut copied = Moved::default();
    for dataset in datasets {
        let _reading = lake.reading(dataset)?;
        let manifest = Manifest::load(lake, dataset)?;
        let _lock = lock(&target, dataset)?;
        let (other, version) = Manifest::load_versioned(&target, dataset)?;
        if !other.sources.is_empty() && other != manifest {
            return Err(Error::new(ErrorKind::Conflict, format!("{dataset} is there, and not the same"))
                .with("lake", target.root())
                .hint("copy to a new folder"));
        }
        let (tables, rejects) = named_files(&manifest);
        copy_named(&lake.dataset_dir(dataset), &target.dataset_dir(dataset), &tables, &mut copied)?;
        copy_named(&lake.rejects_dir(dataset), &target.rejects_dir(dataset), &rejects, &mut copied)?;
        copy_snapshots(&lake.snapshots_dir(dataset), &target.snapshots_dir(dataset), &mut copied)?;
        let written = if manifest.sources.is_empty() || other == manifest {
            Written::Done
        } else {
            manifest.store(&target, &version)?
        };
        if written == Written::Refused && Manifest::load(&target, dataset)? != manifest {
            return Err(Error::new(ErrorKind::Conflict, format!("another process publishes {dataset} there"))
                .with("lake", target.root())
                .hint("copy to a place of its own"));
        }
    }
    Ok(copied)
}

/// A place as the lake at it would be called.
fn absolute(to: &Path) -> Result<String> {
    let Folder::Disk(path) = Folder::named(to)? else { return Ok(Folder::named(to)?.to_string()) };
    let path = std::path::absolute(&path).map_err(|e| Error::io(&path, "open", e))?;
    // What is not there yet has no links to follow; its folder may.
    let there = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    let real = there.and_then(|(part, real)| Some(real.join(path.strip_prefix(part).ok()?)));
    Ok(real.unwrap_or(path).to_string_lossy().trim_end_matches('/').to_owned())
}

fn copy_named(from: &Folder, to: &Folder, names: &HashSet<String>, copied: &mut Moved) -> Result<()> {
    let mut names: Vec<&String> = names.iter().collect();
    names.sort();
    names.into_iter().try_for_each(|name| copy_file(&from.file(name), &to.file(name), copied))
}

/// Snapshots: the tables, then the manifests that name them, then which of them are the latest.
fn copy_snapshots(from: &Folder, to: &Folder, copied: &mut Moved) -> Result<()> {
    let place = |name: &str| match name.split_once('/') {
        Some((_, "manifest.json")) => 1,
        Some(_) => 0,
        None => 2,
    };
    let mut names: Vec<String> = from.files()?.into_iter().map(|entry| entry.inside).collect();
    names.sort_by_key(|name| place(name));
    names.into_iter().try_for_each(|name| copy_file(&from.file(&name), &to.file(&name), copied))
}

fn copy_file(from: &File, to: &File, copied: &mut Moved) -> Result<()> {
    let wanted = from.sha256()?;
    if to.size()?.is_some() && to.sha256()? == wanted {
        return Ok(());
    }
    let bytes = match (from, to) {
        (_, File::Disk(to)) => copy_atomically(to, &mut *from.stream()?)?,
        (File::Disk(from), File::Object(to)) => {
            upload_all(vec![(from.clone(), to.clone())])?;
            std::fs::metadata(from).map_err(|e| Error::io(from, "read", e))?.len()
        }
        (_, to) => {
            let bytes = from.read_required()?;
            to.write(&bytes)?;
            bytes.len() as u64
        }
    };
    if to.sha256()? != wanted {
        return Err(Error::new(ErrorKind::Corrupt, "the copy is not what was copied")
            .with("file", to)
            .hint("something else writes there, or the disk is failing"));
    }
    copied.add(bytes);
    Ok(())
}
