//! Recomputes every digest of a snapshot.

use std::collections::BTreeSet;

use super::publish::ledger_totals;
use super::{Snapshot, SnapshotManifest, digest};
use crate::error::{ErrorKind, Result};

/// What verifying found.
#[derive(Debug, Clone)]
pub struct Verified {
    /// The snapshot's id.
    pub id: String,
    /// Tables looked at.
    pub tables: usize,
    /// Rows looked at.
    pub rows: u64,
    /// What differs; empty for a sound snapshot.
    pub problems: Vec<String>,
}

/// Recomputes the digests of every file, of every table's rows, of the manifest, and the id.
pub fn verify(snapshot: &Snapshot) -> Result<Verified> {
    // Read now, once: another run may tell the manifest anew meanwhile.
    let (manifest, text) = SnapshotManifest::load_with_text(&snapshot.dir)?;
    let manifest = &manifest;
    let mut found = Verified { id: manifest.id.clone(), tables: manifest.tables.len(), rows: 0, problems: Vec::new() };
    if text != manifest.to_text()?.as_bytes() {
        found.problems.push("manifest.json: its own digest differs: the file was changed".into());
    }
    let mut recomputed = SnapshotManifest { tables: Vec::new(), ..manifest.clone() };
    for table in &manifest.tables {
        let file = snapshot.dir.file(&table.file);
        let sha256 = match file.sha256() {
            Ok(sha256) => sha256,
            // What could not be asked for says nothing of the snapshot.
            Err(error) if error.kind() == ErrorKind::Network && file.size()?.is_some() => return Err(error),
            Err(error) => {
                found.problems.push(format!("{}: {}", table.file, error.message()));
                continue;
            }
        };
        if sha256 != table.sha256 {
            found
                .problems
                .push(format!("{}: the file's SHA-256 is {sha256}, recorded is {}", table.file, table.sha256));
        }
        match digest::table(&file, &table.schema(&manifest.dataset)) {
            Ok((rows_sha256, rows)) => {
                found.rows += rows;
                if rows != table.rows {
                    found.problems.push(format!("{}: {rows} rows, recorded are {}", table.file, table.rows));
                }
                if rows_sha256 != table.rows_sha256 {
                    found.problems.push(format!("{}: its rows are not those recorded", table.file));
                }
                recomputed.tables.push(super::SnapshotTable { rows_sha256, ..table.clone() });
            }
            Err(error) if error.kind() == ErrorKind::Network => return Err(error),
            Err(error) => found.problems.push(format!("{}: {}", table.file, error.message())),
        }
    }
    let ledger = snapshot.dir.file("ledger.parquet");
    if ledger.size()?.is_some() && ledger_totals(&ledger).is_ok_and(|totals| totals != manifest.ledger) {
        found.problems.push("manifest.json: its ledger totals are not those of ledger.parquet".into());
    }
    let id = recomputed.compute_id();
    if recomputed.tables.len() == manifest.tables.len() && id != manifest.id {
        found.problems.push(format!("the id that follows from the content is {id}"));
    }
    if snapshot.dir.name() != manifest.id {
        found.problems.push(format!("the folder is not named by the id {}", manifest.id));
    }
    let known: BTreeSet<&str> =
        manifest.tables.iter().map(|table| table.file.as_str()).chain([super::MANIFEST]).collect();
    for name in snapshot.dir.files()?.into_iter().map(|entry| entry.inside) {
        if !known.contains(name.as_str()) {
            found.problems.push(format!("{name}: a file that the manifest does not name"));
        }
    }
    Ok(found)
}
