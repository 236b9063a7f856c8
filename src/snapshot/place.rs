//! Putting a finished snapshot where it belongs: all of it at once, and never a mix of two.

use std::path::Path;

use rayon::prelude::*;

use super::manifest::SnapshotManifest;
use super::{MANIFEST, Snapshot, digest};
use crate::error::{Error, ErrorKind, Result};
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
        let sha256 = to.sha256()?;
        if sha256 == table.sha256 {
            return Ok(());
        }
        let rows = digest::table(&to, &table.schema(&manifest.dataset)).ok();
        if rows.is_none_or(|(rows_sha256, _)| rows_sha256 != table.rows_sha256) {
            return Err(Error::new(ErrorKind::Corrupt, "a file stands where a table of this snapshot is due")
                .with("file", to)
                .hint("remove it and score again"));
        }
        (table.sha256, table.bytes) = (sha256, to.size()?.unwrap_or_default());
        Ok(())
    })?;
    let written = dir.file(MANIFEST).write_if(told.to_text()?.as_bytes(), &Version::Absent)?;
    if written == Written::Refused {
        require_sound(dir, manifest)?;
    }
    Ok(written == Written::Refused)
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
