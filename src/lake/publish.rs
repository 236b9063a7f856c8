//! Publishing: staged parts move into place, duplicates are settled, and one swap of the manifest makes them count.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Lake;
use super::duplicates::{self, OnConflict};
use super::files::{Lock, sync_dir};
use super::load::Staged;
use super::manifest::{Manifest, Part, SourceEntry};
use super::request::{Control, Given, IngestRequest, OnError};
use crate::error::{Error, ErrorKind, Result};

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
    Lock::take(lake.dataset_dir(dataset).join(".lock"), PATIENCE)
}

/// Publishes staged sources: lock, merge into the manifest as it is now, place parts, settle duplicates, swap, tidy.
pub(super) fn publish(
    lake: &Lake,
    request: &IngestRequest<'_>,
    control: &Control<'_>,
    given: &[Given],
    staged: Vec<Staged>,
) -> Result<Published> {
    let dataset = request.reader.dataset();
    let lock = lock(lake, dataset)?;
    let before = Manifest::load(lake, dataset)?;
    let (manifest, new_keys) = merged(&before, request, given, &staged)?;
    let mut published = Published { manifest, added: Vec::new(), replaced: Vec::new() };
    for Given { uri, key, class } in given {
        let holds = |manifest: &Manifest| {
            let same = |source: &SourceEntry| source.uris.contains(uri) && source.options.is_same_entry(&class.options);
            manifest.sources.iter().any(same)
        };
        let is_new = new_keys.contains(key);
        match (is_new, holds(&before)) {
            (true, true) => published.replaced.push(uri.clone()),
            (true, false) => published.added.push(uri.clone()),
            (false, _) => {}
        }
    }
    if published.manifest != before {
        let place = || {
            staged
                .iter()
                .filter(|staged| new_keys.contains(&staged.source.key))
                .try_for_each(|staged| place_parts(lake, dataset, staged))
        };
        let on_conflict = match request.on_error {
            OnError::Fail => OnConflict::RefuseFrom(&new_keys),
            OnError::Reject => OnConflict::Settle,
        };
        place()
            .and_then(|()| {
                duplicates::settle(lake, request.assets, control.engine, &mut published.manifest, on_conflict)
            })
            .and_then(|()| published.manifest.store(lake))
            .inspect_err(|_| tidy(lake, &before))?;
        tidy(lake, &published.manifest);
    }
    staged.into_iter().for_each(|staged| staged.staging.discard());
    drop(lock);
    Ok(published)
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

fn place_parts(lake: &Lake, dataset: &str, Staged { source, staging, .. }: &Staged) -> Result<()> {
    let tables = source.parts.iter().map(|(table, parts)| (table.as_str(), parts, lake.table_dir(dataset, table)));
    let rejects = std::iter::once(("rejects", &source.rejects, lake.rejects_dir(dataset)));
    for (table, parts, dir) in tables.chain(rejects).filter(|(_, parts, _)| !parts.is_empty()) {
        std::fs::create_dir_all(&dir).map_err(|e| Error::io(&dir, "make the folder", e))?;
        for part in parts {
            place(&staging.path().join(format!("{table}-{}", part.file)), &dir.join(&part.file))?;
        }
        sync_dir(&dir)?;
    }
    Ok(())
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
/// not while someone reads: what stays is read by nobody new and is tried again at the next publishing.
fn tidy(lake: &Lake, manifest: &Manifest) {
    let Some(_no_reader) = lake.without_readers(&manifest.dataset) else { return };
    for path in orphans(lake, manifest) {
        let _gone = std::fs::remove_file(&path);
    }
}

/// Every file of a dataset that its manifest names.
pub(super) fn named_files(lake: &Lake, manifest: &Manifest) -> HashSet<PathBuf> {
    let mut named: HashSet<PathBuf> = HashSet::new();
    let mut keep = |dir: PathBuf, part: &Part| {
        named.insert(dir.join(&part.file));
    };
    for source in &manifest.sources {
        for (table, parts) in &source.parts {
            parts.iter().for_each(|part| keep(lake.table_dir(&manifest.dataset, table), part));
        }
        source.rejects.iter().for_each(|part| keep(lake.rejects_dir(&manifest.dataset), part));
    }
    manifest.set_aside_part.iter().for_each(|part| keep(lake.table_dir(&manifest.dataset, "set_aside"), part));
    named
}

/// Files in the folders of a dataset's tables that its manifest does not name.
pub(super) fn orphans(lake: &Lake, manifest: &Manifest) -> Vec<PathBuf> {
    let named = named_files(lake, manifest);
    let mut dirs: HashSet<PathBuf> = HashSet::from([lake.rejects_dir(&manifest.dataset)]);
    if let Ok(entries) = std::fs::read_dir(lake.dataset_dir(&manifest.dataset)) {
        dirs.extend(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()));
    }
    let files = dirs.iter().filter_map(|dir| std::fs::read_dir(dir).ok()).flatten().flatten();
    let mut orphans: Vec<PathBuf> = files.map(|entry| entry.path()).filter(|path| !named.contains(path)).collect();
    orphans.sort();
    orphans
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
