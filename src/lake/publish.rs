//! Publishing: staged parts move into place, duplicates are settled, and one swap of the manifest makes them count.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use super::Lake;
use super::duplicates;
use super::files::{Lock, sync_dir};
use super::load::{Control, IngestRequest, Staged};
use super::manifest::{Manifest, Part};
use crate::error::{Error, Result};

/// What publishing did.
pub(super) struct Published {
    pub manifest: Manifest,
    pub added: Vec<String>,
    pub replaced: Vec<String>,
}

/// Publishes staged sources: lock, merge into the manifest as it is now, move, settle duplicates, swap, tidy.
pub(super) fn publish(
    lake: &Lake,
    request: &IngestRequest<'_>,
    control: &Control<'_>,
    staged: Vec<Staged>,
) -> Result<Published> {
    let dataset = request.reader.dataset();
    let lock = Lock::take(lake.dataset_dir(dataset).join(".lock"), Duration::from_secs(60))?;
    let before = Manifest::load(lake, dataset)?;
    let mut manifest = before.clone();
    let (mut added, mut replaced) = (Vec::new(), Vec::new());
    let mut new_keys = HashSet::new();
    for staged in &staged {
        let mut source = staged.source.clone();
        if before.sources.iter().any(|old| old.key == source.key) {
            // Another process published the same content while this one read it.
            continue;
        }
        let count = manifest.sources.len();
        manifest.sources.retain(|old| old.uri != source.uri && old.key != source.key);
        if manifest.sources.len() < count { &mut replaced } else { &mut added }.push(source.uri.clone());
        source.sequence = 1 + before.sources.iter().map(|old| old.sequence).max().unwrap_or(0);
        new_keys.insert(source.key.clone());
        manifest.sources.push(source);
    }
    if new_keys.is_empty() {
        return Ok(Published { manifest: before, added, replaced });
    }
    manifest.sources.sort_by(|a, b| a.key.cmp(&b.key));
    for staged in staged.iter().filter(|staged| new_keys.contains(&staged.source.key)) {
        place_parts(lake, dataset, staged)?;
    }
    duplicates::settle(lake, request, control, &mut manifest, &new_keys)
        .and_then(|()| manifest.store(lake))
        .inspect_err(|_| tidy(lake, &before))?;
    staged.into_iter().for_each(|staged| staged.staging.discard());
    tidy(lake, &manifest);
    drop(lock);
    Ok(Published { manifest, added, replaced })
}

fn place_parts(lake: &Lake, dataset: &str, Staged { source, staging, .. }: &Staged) -> Result<()> {
    let tables = source.parts.iter().map(|(table, parts)| (table.as_str(), parts, lake.table_dir(dataset, table)));
    let rejects = std::iter::once(("rejects", &source.rejects, lake.rejects_dir(dataset)));
    for (table, parts, dir) in tables.chain(rejects).filter(|(_, parts, _)| !parts.is_empty()) {
        std::fs::create_dir_all(&dir).map_err(|e| Error::io(&dir, "make the folder", e))?;
        for part in parts {
            let (from, to) = (staging.path().join(format!("{table}-{}", part.file)), dir.join(&part.file));
            // Copied, not moved: if publishing fails, the finished parts are still staged.
            if std::fs::hard_link(&from, &to).is_err() {
                std::fs::copy(&from, &to).map_err(|e| Error::io(&to, "write", e))?;
            }
        }
        sync_dir(&dir)?;
    }
    Ok(())
}

/// Removes files that no manifest names: parts of replaced sources and of publishings that were cut short. Best effort:
/// what stays is not read by anyone and is tried again at the next publishing.
fn tidy(lake: &Lake, manifest: &Manifest) {
    let mut named: HashSet<PathBuf> = HashSet::new();
    let mut dirs: HashSet<PathBuf> = HashSet::from([lake.rejects_dir(&manifest.dataset)]);
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
    if let Ok(entries) = std::fs::read_dir(lake.dataset_dir(&manifest.dataset)) {
        dirs.extend(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()));
    }
    for dir in dirs {
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            if !named.contains(&path) {
                let _gone = std::fs::remove_file(&path);
            }
        }
    }
}
