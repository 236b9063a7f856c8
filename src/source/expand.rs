//! Inputs as given on the command line become a sorted list of files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use glob::MatchOptions;
use tempfile::TempDir;

use super::{Location, archive, remote};
use crate::error::{Error, ErrorKind, Result};
use crate::store::{self, File, Folder};

/// Extensions that a directory is searched for, each also with `.gz` or `.zst` behind it.
const EXTENSIONS: [&str; 5] = ["jsonl", "ndjson", "json", "csv", "tsv"];

/// What the inputs stand for.
#[derive(Debug, Default)]
pub struct Expanded {
    /// The files, sorted by path, each once.
    pub locations: Vec<Location>,
    /// Files of a directory or an archive that were passed over because of their extension.
    pub passed_over: Vec<String>,
    /// Inputs that could not be opened, each with its error.
    pub failed: Vec<(String, Error)>,
    /// Where members of archives were unpacked to; gone when this goes.
    pub(super) unpacked: Vec<TempDir>,
}

/// Expands files, directories, globs, URLs and archives. An input that cannot be found is in `failed`: the caller decides what it costs.
pub fn expand(inputs: &[String]) -> Expanded {
    let mut found = Found::default();
    let mut expanded = Expanded::default();
    for input in inputs {
        if let Err(error) = expand_one(input, &mut found, &mut expanded) {
            expanded.failed.push((store::redact(input), error));
        }
    }
    expanded.locations = found.disk.into_values().chain(found.others.into_values()).collect();
    expanded
}

/// Files by what makes them one: the real path, or the URI.
#[derive(Default)]
pub(super) struct Found {
    disk: BTreeMap<PathBuf, Location>,
    pub(super) others: BTreeMap<String, Location>,
}

fn expand_one(input: &str, found: &mut Found, expanded: &mut Expanded) -> Result<()> {
    let Some((archive, member)) = archive::split(input) else {
        return expand_plain(input, found, &mut expanded.passed_over, false);
    };
    let mut archives = Found::default();
    expand_plain(archive, &mut archives, &mut expanded.passed_over, true)?;
    let archives = archives.disk.into_values().chain(archives.others.into_values());
    archives.into_iter().try_for_each(|location| archive::unpack(&location, member, found, expanded))
}

impl Expanded {
    /// Adds the data in an archive that was fetched.
    pub fn unpack(&mut self, archive: &Location, member: Option<&str>) -> Result<()> {
        let mut found = Found::default();
        archive::unpack(archive, member, &mut found, self)?;
        self.locations.extend(found.others.into_values());
        Ok(())
    }
}

/// Files by their names alone: what is in an archive is not looked at.
fn expand_plain(input: &str, found: &mut Found, passed_over: &mut Vec<String>, is_archive: bool) -> Result<()> {
    if input.contains("://") && !input.starts_with("file://") {
        return remote::expand(input, found, passed_over, is_archive);
    }
    let local = Folder::named(Path::new(input))?;
    let path = local.path().unwrap_or(Path::new(input));
    let Found { disk: found, .. } = found;
    if path.is_dir() {
        let mut walk = Walk { found, passed_over, seen: BTreeSet::new(), files: 0 };
        walk.dir(path)?;
        if walk.files == 0 {
            return Err(no_file(input, "the directory holds no .jsonl, .ndjson, .json, .csv or .tsv file"));
        }
        return Ok(());
    }
    if path.exists() {
        return add(path, found);
    }
    if !is_glob(input) {
        return Err(no_file(input, "no such file or directory"));
    }
    let pattern = glob::glob(&path.to_string_lossy())
        .map_err(|e| Error::new(ErrorKind::Usage, format!("not a glob: {e}")).with("input", input).caused_by(e))?;
    let mut any = false;
    for entry in pattern {
        let path = entry.map_err(|e| {
            let path = e.path().to_path_buf();
            Error::unreadable(path, "list", e.into())
        })?;
        any = true;
        if path.is_dir() {
            Walk { found, passed_over, seen: BTreeSet::new(), files: 0 }.dir(&path)?;
        } else {
            add(&path, found)?;
        }
    }
    if any { Ok(()) } else { Err(no_file(input, "the glob matches nothing")) }
}

pub(super) fn no_file(input: &str, message: &str) -> Error {
    Error::new(ErrorKind::Input, message).with("input", store::redact(input)).hint("check the path")
}

/// A walk through a directory; a link back to a folder above is not followed again.
struct Walk<'a> {
    found: &'a mut BTreeMap<PathBuf, Location>,
    passed_over: &'a mut Vec<String>,
    seen: BTreeSet<PathBuf>,
    files: usize,
}

impl Walk<'_> {
    fn dir(&mut self, dir: &Path) -> Result<()> {
        let real = dir.canonicalize().map_err(|e| Error::unreadable(dir, "list", e))?;
        if !self.seen.insert(real) {
            return Ok(());
        }
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(dir).map_err(|e| Error::unreadable(dir, "list", e))? {
            paths.push(entry.map_err(|e| Error::unreadable(dir, "list", e))?.path());
        }
        paths.sort();
        for path in paths {
            let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            if name.starts_with('.') {
                continue;
            }
            if path.is_dir() {
                self.dir(&path)?;
            } else if is_data(&name) {
                add(&path, self.found)?;
                self.files += 1;
            } else {
                self.passed_over.push(path.display().to_string());
            }
        }
        Ok(())
    }
}

/// How keys and members are held against globs: as a shell does.
pub(super) const GLOB: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

pub(super) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

pub(super) fn is_data(name: &str) -> bool {
    extension(name).is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}

/// The extension below `.gz` or `.zst`, in small letters.
fn extension(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let plain = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
    plain.rsplit_once('.').map(|(_, extension)| extension.to_owned())
}

/// What separates the values of a file of this name, if it is a table.
pub(super) fn delimiter(name: &str) -> Option<u8> {
    match extension(name)?.as_str() {
        "csv" => Some(b','),
        "tsv" => Some(b'\t'),
        _ => None,
    }
}

fn add(path: &Path, found: &mut BTreeMap<PathBuf, Location>) -> Result<()> {
    let metadata = std::fs::metadata(path).map_err(|e| Error::unreadable(path, "open", e))?;
    if !metadata.is_file() {
        return Err(Error::new(ErrorKind::Input, "no regular file: it could not be read twice")
            .with("file", path.display())
            .hint("write it to a file first"));
    }
    let real = path.canonicalize().map_err(|e| Error::unreadable(path, "open", e))?;
    // A link is called what it is called: the hub's cache names what links stand for by their digests. The same file by another link is
    // the same file.
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().map_err(|e| Error::unreadable(path, "open", e))?;
    let called = path.file_name().map_or_else(|| real.clone(), |name| folder.join(name));
    found.entry(real).or_insert_with(|| Location {
        uri: uri(&called),
        file: File::Disk(called),
        size: metadata.len(),
        revision: None,
    });
    Ok(())
}

/// The path as text; bytes that are not UTF-8 as `\xff`, so that two names stay two.
fn uri(path: &Path) -> String {
    let chunks = path.as_os_str().as_encoded_bytes().utf8_chunks();
    chunks.map(|chunk| chunk.valid().to_owned() + &chunk.invalid().escape_ascii().to_string()).collect()
}
