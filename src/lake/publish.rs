//! Publishing: staged parts move into place, duplicates are settled, and one swap of the manifest makes them count.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Lake;
use super::duplicates::{self, OnConflict};
use super::load::Staged;
use super::lock::Lock;
use super::manifest::{Manifest, SourceEntry};
use super::request::{Control, Given, IngestRequest, OnError};
use crate::error::{Error, ErrorKind, Result};
use crate::store::{self, Entry, File, Folder, Object, Written};

/// How long a publisher waits for another one.
const PATIENCE: Duration = Duration::from_secs(60);

/// What publishing did.
pub(super) struct Published {
    pub manifest: Manifest,
    pub added: Vec<String>,
    pub replaced: Vec<String>,
}

/// The lock under which a dataset's manifest is read, changed and swapped.
pub(crate) fn lock(lake: &Lake, dataset: &str) -> Result<Lock> {
    Lock::take(&lake.dataset_dir(dataset), PATIENCE)
}

/// How often a writer that others were faster than merges into their state and tries again.
const ATTEMPTS: u32 = 16;

/// Changes a manifest as it is now and swaps it: under the lock on disk; in a bucket again from the state that a faster writer left.
pub(super) fn change<T>(
    lake: &Lake,
    dataset: &str,
    mut changed: impl FnMut(&Manifest) -> Result<(Manifest, T)>,
) -> Result<T> {
    let mut tried: Option<(Manifest, T)> = None;
    for attempt in 0..ATTEMPTS {
        let _lock = lock(lake, dataset)?;
        let (before, version) = Manifest::load_versioned(lake, dataset)?;
        // Refused, and yet it is there: the answer to the first request was lost, and the store's client asked again.
        if let Some((_, told)) = tried.take_if(|(manifest, _)| *manifest == before) {
            return Ok(told);
        }
        let result = changed(&before).and_then(|(manifest, told)| {
            let written = if manifest == before { Written::Done } else { manifest.store(lake, &version)? };
            Ok((manifest, told, written))
        });
        match result {
            Ok((manifest, told, Written::Done)) => {
                if manifest != before {
                    tidy(lake, &manifest);
                }
                return Ok(told);
            }
            Ok((manifest, told, Written::Refused)) => {
                tried = Some((manifest, told));
                // Not in step with the others.
                std::thread::sleep(Duration::from_millis(u64::from(attempt * (std::process::id() % 97))));
            }
            Err(error) => {
                tidy(lake, &before);
                return Err(error);
            }
        }
    }
    // The last answer may be the one that was lost.
    if let Some((manifest, told)) = tried
        && Manifest::load(lake, dataset)? == manifest
    {
        return Ok(told);
    }
    Err(Error::new(ErrorKind::Conflict, format!("other writers published to {dataset} each time, {ATTEMPTS} times"))
        .with("lake", lake.root())
        .hint("nothing of this run was published; run again"))
}

/// Publishes staged sources: merge into the manifest as it is now, place parts, settle duplicates, swap, tidy.
pub(super) fn publish(
    lake: &Lake,
    request: &IngestRequest<'_>,
    control: &Control<'_>,
    given: &[Given],
    mut staged: Vec<Staged>,
) -> Result<Published> {
    let dataset = request.reader.dataset();
    let mut places = staged.iter_mut().map(|staged| Places::of(lake, dataset, staged)).collect::<Result<Vec<_>>>()?;
    let published = change(lake, dataset, |before| {
        let (mut manifest, new_keys) = merged(before, request, given, &staged)?;
        if manifest != *before {
            for (staged, places) in staged.iter().zip(&mut places) {
                if new_keys.contains(&staged.source.key) {
                    places.fill()?;
                }
            }
            let on_conflict = match request.on_error {
                OnError::Fail => OnConflict::RefuseFrom(&new_keys),
                OnError::Reject => OnConflict::Settle,
            };
            duplicates::settle(lake, request.assets, control.engine, &mut manifest, on_conflict)?;
        }
        let (added, replaced) = added(before, given, &new_keys);
        Ok((manifest.clone(), Published { manifest, added, replaced }))
    })?;
    // What was removed between the upload and the swap, by a `lake gc` of too little patience, is put again while it is here.
    let missing = missing(lake, dataset, &places)?;
    store::upload_all(missing)?;
    staged.into_iter().for_each(|staged| staged.staging.discard());
    Ok(published)
}

/// Uploads of this process that are not there.
fn missing(lake: &Lake, dataset: &str, places: &[Places]) -> Result<Vec<(PathBuf, Object)>> {
    let filled = places.iter().filter_map(|places| match places {
        Places::Bucket { uploads, is_filled: true } => Some(uploads),
        _ => None,
    });
    let uploads: Vec<&(PathBuf, Object)> = filled.flatten().collect();
    if uploads.is_empty() {
        return Ok(Vec::new());
    }
    let mut there: HashSet<String> = HashSet::new();
    for dir in [lake.dataset_dir(dataset), lake.rejects_dir(dataset)] {
        there.extend(dir.files()?.into_iter().map(|entry| entry.file.to_string()));
    }
    Ok(uploads.into_iter().filter(|(_, object)| !there.contains(&object.to_string())).cloned().collect())
}

/// URIs that are new, and those whose content is.
fn added(before: &Manifest, given: &[Given], new_keys: &HashSet<String>) -> (Vec<String>, Vec<String>) {
    let is_there = |given: &&Given| {
        let same = |source: &SourceEntry| {
            source.uris.contains(&given.uri) && source.options.is_same_entry(&given.class.options)
        };
        before.sources.iter().any(same)
    };
    let (replaced, added): (Vec<&Given>, Vec<&Given>) =
        given.iter().filter(|given| new_keys.contains(&given.key)).partition(is_there);
    let uris = |given: Vec<&Given>| given.into_iter().map(|given| given.uri.clone()).collect();
    (uris(added), uris(replaced))
}

/// The manifest with the given sources in it, and the keys that are new.
fn merged(
    before: &Manifest,
    request: &IngestRequest<'_>,
    given: &[Given],
    staged: &[Staged],
) -> Result<(Manifest, HashSet<String>)> {
    let mut manifest = before.clone();
    let next = 1 + before.sources.iter().map(|old| old.sequence).max().unwrap_or(0);
    // A URI stands for its newest content only, for each judge and revision; a source that no URI stands for any more goes.
    for Given { uri, key, class } in given {
        let is_older = |source: &&mut SourceEntry| source.key != *key && source.options.is_same_entry(&class.options);
        for source in manifest.sources.iter_mut().filter(is_older) {
            source.uris.retain(|known| known != uri);
        }
    }
    let mut new_keys = HashSet::new();
    for staged in staged {
        // Another process may have published the same content while this one read it.
        if !manifest.sources.iter().any(|source| source.key == staged.source.key) {
            new_keys.insert(staged.source.key.clone());
            let mut source = staged.source.clone();
            source.sequence = next;
            // The same content read with other options, such as without texts, was made in the same way.
            let same = |old: &&SourceEntry| old.sha256 == source.sha256 && old.options.is_same_entry(&source.options);
            source.provenance = before.sources.iter().find(same).and_then(|old| old.provenance.clone());
            manifest.sources.push(source);
        }
    }
    for Given { uri, key, class } in given {
        let source = manifest.sources.iter_mut().find(|source| source.key == *key).ok_or_else(|| {
            Error::new(ErrorKind::Conflict, "another process replaced this source meanwhile")
                .with("file", uri)
                .hint("run again")
        })?;
        if !source.uris.contains(uri) {
            source.uris.push(uri.clone());
            source.uris.sort();
        }
        if request.provenance.is_some() && class.takes_provenance {
            source.provenance.clone_from(&request.provenance);
        }
        if request.supersede && !new_keys.contains(key) {
            (source.supersedes, source.sequence) = (true, next);
        }
    }
    manifest.sources.retain(|source| !source.uris.is_empty());
    manifest.sources.sort_by(|a, b| a.key.cmp(&b.key));
    Ok((manifest, new_keys))
}

/// Where the staged parts of a source go.
enum Places {
    /// Linked into folders of this disk.
    Disk(Vec<(PathBuf, PathBuf)>),
    /// Uploaded, once.
    Bucket { uploads: Vec<(PathBuf, Object)>, is_filled: bool },
}

impl Places {
    /// In a bucket no lock keeps two writers apart: there a part is also named by its bytes, so that what one of them puts over another's
    /// is the same.
    fn of(lake: &Lake, dataset: &str, Staged { source, staging, .. }: &mut Staged) -> Result<Self> {
        let tables =
            source.parts.iter_mut().map(|(table, parts)| (table.as_str(), lake.table_dir(dataset, table), parts));
        let rejects = std::iter::once(("rejects", lake.rejects_dir(dataset), &mut source.rejects));
        let (mut links, mut uploads) = (Vec::new(), Vec::new());
        for (table, dir, parts) in tables.chain(rejects) {
            for part in parts {
                let staged = staging.path().join(format!("{table}-{}", part.file));
                if let Folder::Bucket(..) = &dir {
                    part.file = named_by_content(&part.file, &staged)?;
                }
                match dir.file(&part.file) {
                    File::Disk(path) => links.push((staged, path)),
                    File::Object(object) => uploads.push((staged, object)),
                    File::Web(web) => {
                        return Err(Error::new(ErrorKind::Check, "a lake on the web").with("file", web));
                    }
                }
            }
        }
        Ok(match lake.root() {
            Folder::Disk(_) => Self::Disk(links),
            Folder::Bucket(..) => Self::Bucket { uploads, is_filled: false },
        })
    }

    fn fill(&mut self) -> Result<()> {
        match self {
            Self::Bucket { is_filled: true, .. } => Ok(()),
            Self::Bucket { uploads, is_filled } => {
                store::upload_all(uploads.clone())?;
                *is_filled = true;
                Ok(())
            }
            Self::Disk(links) => {
                let dirs: BTreeSet<&Path> = links.iter().map(|(_, to)| store::parent(to)).collect();
                for dir in &dirs {
                    std::fs::create_dir_all(dir).map_err(|e| Error::io(dir, "make the folder", e))?;
                }
                links.iter().try_for_each(|(from, to)| place(from, to))?;
                dirs.into_iter().try_for_each(store::sync_dir)
            }
        }
    }
}

/// The name of a part with the digest of its bytes in it.
pub(super) fn named_by_content(file: &str, staged: &Path) -> Result<String> {
    let digest = File::from(staged).sha256()?;
    let stem = file.strip_suffix(".parquet").unwrap_or(file);
    Ok(format!("{stem}-{}.parquet", &digest[..16]))
}

/// Puts a staged part in place and leaves it staged too, for the case that publishing fails.
fn place(from: &Path, to: &Path) -> Result<()> {
    // A run that was killed here may have left this very link: writing into it would write into the staged part.
    match std::fs::remove_file(to) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(Error::io(to, "replace", e)),
        _ => {}
    }
    if std::fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    // A file system without links.
    let temporary = to.with_extension("writing");
    let copied = std::fs::copy(from, &temporary).and_then(|_| std::fs::File::open(&temporary)?.sync_all());
    copied.and_then(|()| std::fs::rename(&temporary, to)).map_err(|e| Error::io(to, "write", e))
}

/// Removes files that no manifest names: parts of replaced sources and of publishings that were cut short. Best effort, and
/// not while someone reads, nor in a bucket, where nobody knows: what stays is read by nobody new and is tried again at the next
/// publishing, or by `lake gc`.
pub(super) fn tidy(lake: &Lake, manifest: &Manifest) {
    let Some(_no_reader) = lake.without_readers(&manifest.dataset) else { return };
    for entry in orphans(lake, manifest).unwrap_or_default() {
        let _gone = entry.file.remove();
    }
}

/// What a manifest names: files of tables as `table/file`, and files of rejects.
pub(super) fn named_files(manifest: &Manifest) -> (HashSet<String>, HashSet<String>) {
    let parts = manifest.sources.iter().flat_map(|source| &source.parts);
    let mut tables: HashSet<String> =
        parts.flat_map(|(table, parts)| parts.iter().map(move |part| format!("{table}/{}", part.file))).collect();
    tables.extend(manifest.set_aside_part.iter().map(|part| format!("set_aside/{}", part.file)));
    let rejects = manifest.sources.iter().flat_map(|source| &source.rejects).map(|part| part.file.clone()).collect();
    (tables, rejects)
}

/// Files in the folders of a dataset's tables that its manifest does not name.
pub(super) fn orphans(lake: &Lake, manifest: &Manifest) -> Result<Vec<Entry>> {
    let (tables, rejects) = named_files(manifest);
    let mut orphans = lake.dataset_dir(&manifest.dataset).files()?;
    orphans.retain(|entry| entry.inside.contains('/') && !tables.contains(&entry.inside));
    let of_rejects = lake.rejects_dir(&manifest.dataset).files()?;
    orphans.extend(of_rejects.into_iter().filter(|entry| !rejects.contains(&entry.inside)));
    Ok(orphans)
}

/// The manifest restricted to some sources, its duplicates settled among them alone; for scoring, not for publishing.
pub(crate) fn restricted(
    lake: &Lake,
    assets: &crate::assets::Assets,
    control: super::session::EngineOptions,
    manifest: &Manifest,
    keys: &[String],
) -> Result<Manifest> {
    let mut restricted = manifest.clone();
    restricted.sources.retain(|source| keys.contains(&source.key));
    duplicates::settle(lake, assets, control, &mut restricted, OnConflict::Settle)?;
    Ok(restricted)
}
