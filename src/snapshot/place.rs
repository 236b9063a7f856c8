//! Putting a finished snapshot where it belongs: all of it at once, and never a mix of two.

use std::collections::BTreeSet;
use std::path::Path;

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::manifest::SnapshotManifest;
use super::{MANIFEST, Snapshot, digest};
use crate::error::{Error, ErrorKind, Result};
use crate::source::hex;
use crate::store::{self, File, Folder, Version, Written};

/// Writes the manifest into the staged folder and renames the folder to its id; true if an equal one was there. Of two processes with one
/// result either may win.
pub(super) fn rename(staged: &Path, dir: &Path, manifest: &SnapshotManifest) -> Result<bool> {
    let parent = store::parent(dir);
    store::write_atomically(&staged.join(MANIFEST), manifest.to_text()?.as_bytes())?;
    std::fs::create_dir_all(parent).map_err(|e| Error::io(parent, "make the folder", e))?;
    if !dir.exists() {
        match std::fs::rename(staged, dir) {
            Ok(()) => {
                store::sync_dir(parent)?;
                return Ok(false);
            }
            Err(_raced) if dir.exists() => {}
            Err(e) => return Err(Error::io(dir, "publish the snapshot", e)),
        }
    }
    require_sound(&Folder::Disk(dir.to_path_buf()), manifest)?;
    Ok(true)
}

/// Uploads the tables, then the manifest, which makes it a snapshot; true if an equal one was there.
///
/// No table is written over: whoever puts it first puts it for good, so that the manifests of two writers speak of the same files. One that is
/// there already, put by a run that died or by another build, stays if its rows are these.
pub(super) fn upload(staged: &Path, dir: &Folder, manifest: &SnapshotManifest) -> Result<bool> {
    if dir.file(MANIFEST).size()?.is_some() {
        require_sound(dir, manifest)?;
        return Ok(true);
    }
    let mut told = SnapshotManifest { manifest_sha256: String::new(), ..manifest.clone() };
    told.tables.par_iter_mut().try_for_each(|table| {
        let (from, to) = (File::Disk(staged.join(&table.file)), dir.file(&table.file));
        if to.write_if(&from.read_required()?, &Version::Absent)? == Written::Done {
            return Ok(());
        }
        let there = to.read_required()?;
        let sha256 = hex(&Sha256::digest(&there));
        if sha256 == table.sha256 {
            // Written anew, the same bytes: its age is by what `lake gc` tells leftovers.
            return to.write(&there);
        }
        let rows = match digest::table(&to, &table.schema(&manifest.dataset)) {
            Err(error) if error.kind() == ErrorKind::Network => return Err(error),
            rows => rows.ok(),
        };
        if rows.is_none_or(|(rows_sha256, _)| rows_sha256 != table.rows_sha256) {
            return Err(Error::new(ErrorKind::Corrupt, "a file stands where a table of this snapshot is due")
                .with("file", to)
                .hint("remove it and score again"));
        }
        (table.sha256, table.bytes) = (sha256, there.len() as u64);
        to.write(&there)
    })?;
    let (file, text) = (dir.file(MANIFEST), told.to_text()?);
    if file.write_if(text.as_bytes(), &Version::Absent)? == Written::Done {
        // What was removed meanwhile, by a `lake gc` of too little patience, is put again.
        let there: BTreeSet<String> = dir.files()?.into_iter().map(|entry| entry.inside).collect();
        for table in told.tables.iter().filter(|table| !there.contains(&table.file)) {
            let staged = File::Disk(staged.join(&table.file)).read_required()?;
            dir.file(&table.file).write_if(&staged, &Version::Absent)?;
        }
        return Ok(false);
    }
    // It may be this very one: of an answer that was lost the store's client tries again.
    let is_ours = file.read()?.is_some_and(|there| there == text.as_bytes());
    require_sound(dir, manifest)?;
    Ok(!is_ours)
}

fn require_sound(dir: &Folder, manifest: &SnapshotManifest) -> Result<()> {
    let there = Snapshot::open(dir.clone())?;
    if there.manifest.id == manifest.id && super::verify(&there)?.problems.is_empty() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Corrupt, "a snapshot of this id is there, but its bytes are not what it says")
        .with("snapshot", dir)
        .hint("`scorelake snapshot verify` tells what differs; move the folder away and score again"))
}
