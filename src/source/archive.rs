//! Tar archives as inputs: their members are read like the files of a directory. What an archive calls its members decides nothing about where
//! they are unpacked to, and one with a member that points outside is not read at all.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Component, Path};
use std::sync::atomic::Ordering;

use glob::Pattern;
use tar::{Archive, EntryType};

use super::expand::{Expanded, Found, GLOB, is_data, no_file};
use super::{Location, open};
use crate::error::{Error, ErrorKind, Result};
use crate::store::File;

const EXTENSIONS: [&str; 5] = [".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst"];
/// Between an archive and its member.
const INSIDE: &str = "!/";

/// The archive that an input is or names a member of, and the member, which may be a glob.
pub fn split(input: &str) -> Option<(&str, Option<&str>)> {
    let is_archive = |name: &str| {
        let name = name.split(['?', '#']).next().unwrap_or(name).to_ascii_lowercase();
        EXTENSIONS.iter().any(|extension| name.ends_with(extension))
    };
    match input.split_once(INSIDE) {
        Some((archive, member)) if is_archive(archive) => Some((archive, Some(member))),
        _ if is_archive(input) => Some((input, None)),
        _ => None,
    }
}

/// Unpacks the members that hold data, or those that `member` names, and adds them.
pub(super) fn unpack(
    archive: &Location,
    member: Option<&str>,
    found: &mut Found,
    expanded: &mut Expanded,
) -> Result<()> {
    // What is no glob can still be a name.
    let wanted = member.map(|member| Pattern::new(member).or_else(|_no_glob| Pattern::new(&Pattern::escape(member))));
    let wanted = wanted.transpose().map_err(|e| {
        Error::new(ErrorKind::Usage, format!("not a glob: {e}")).with("input", &archive.uri).caused_by(e)
    })?;
    let folder = tempfile::tempdir().map_err(|e| Error::io(std::env::temp_dir(), "make a folder", e))?;
    let mut members = BTreeMap::new();
    let mut number = 0;
    each_file(
        archive,
        |name, content| {
            let is_wanted = match &wanted {
                Some(pattern) => member == Some(name) || pattern.matches_with(name, GLOB),
                None => is_data(name) && !name.split('/').any(|part| part.starts_with('.')),
            };
            let uri = format!("{}{INSIDE}{name}", archive.uri);
            if !is_wanted {
                expanded.passed_over.push(uri);
                return Ok(());
            }
            number += 1;
            let path = folder.path().join(number.to_string());
            let mut file = std::fs::File::create(&path).map_err(|e| Error::io(&path, "write", e))?;
            let size = std::io::copy(content, &mut file).map_err(|e| match e.kind() {
                std::io::ErrorKind::StorageFull => Error::io(&path, "write", e),
                _ => damaged(archive, e),
            })?;
            let location =
                Location { uri: uri.clone(), file: File::Disk(path), size, revision: archive.revision.clone() };
            // A later member of one name takes the place of an earlier one, as when unpacking.
            members.insert(uri, location);
            Ok(())
        },
        &|_read| {},
    )?;
    if number == 0 {
        return Err(match member {
            Some(member) => no_file(&format!("{}{INSIDE}{member}", archive.uri), "the archive has no such member")
                .hint(format!("of a folder in it write {INSIDE}{}/**", member.trim_end_matches('/'))),
            None => no_file(&archive.uri, "the archive holds no .jsonl, .ndjson, .json, .csv or .tsv file"),
        });
    }
    // Of an archive that is refused nothing is given.
    found.others.extend(members);
    expanded.unpacked.push(folder);
    Ok(())
}

/// Hands over each regular file of an archive by its name in it, and tells of the bytes read. A member that leaves the archive's root ends it; links are no files. Gives
/// the commit that git made the archive of, if it says so.
pub(crate) fn each_file(
    archive: &Location,
    mut each: impl FnMut(&str, &mut dyn Read) -> Result<()>,
    read: &dyn Fn(u64),
) -> Result<Option<String>> {
    let mut commit = None;
    let open::Opened { reader, position } = open::open(archive)?;
    let mut tar = Archive::new(reader);
    for entry in tar.entries().map_err(|e| damaged(archive, e))? {
        let mut entry = entry.map_err(|e| damaged(archive, e))?;
        read(position.load(Ordering::Relaxed));
        if entry.header().entry_type() == EntryType::XGlobalHeader {
            let mut text = String::new();
            (&mut entry).take(LONGEST_HEADER).read_to_string(&mut text).map_err(|e| damaged(archive, e))?;
            commit = text.lines().find_map(|line| line.split_once("comment=")).map(|(_, commit)| commit.to_owned());
            continue;
        }
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if entry.header().entry_type() == EntryType::GNUSparse {
            return Err(Error::new(ErrorKind::Input, "a member of the archive is mostly holes: data never are")
                .with("file", &archive.uri)
                .with("entry", name.escape_debug())
                .hint("make the archive without --sparse, if it can be trusted"));
        }
        let inside = Path::new(&name).components().map(|part| match part {
            Component::Normal(part) => Some(Some(part.to_string_lossy().into_owned())),
            Component::CurDir => Some(None),
            _ => None,
        });
        let Some(inside) = inside.collect::<Option<Vec<_>>>().filter(|_| !name.contains('\\')) else {
            return Err(Error::new(ErrorKind::Input, "a member of the archive leaves its root: nothing of it is read")
                .with("file", &archive.uri)
                .with("entry", name.escape_debug())
                .hint("do not trust this archive"));
        };
        let name = inside.into_iter().flatten().collect::<Vec<_>>().join("/");
        if matches!(entry.header().entry_type(), EntryType::Regular | EntryType::Continuous) {
            each(&name, &mut entry)?;
        }
    }
    // To the end: what a compressor says of the whole comes last.
    std::io::copy(&mut tar.into_inner(), &mut std::io::sink()).map_err(|e| damaged(archive, e))?;
    Ok(commit)
}

/// Bytes of a header that is about the whole archive.
const LONGEST_HEADER: u64 = 4096;

fn damaged(archive: &Location, error: std::io::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(ours) => ours,
        Err(e) => Error::new(ErrorKind::Input, format!("the archive cannot be read on: {e}"))
            .with("file", &archive.uri)
            .hint("it is damaged or cut short; fetch it again")
            .caused_by(e),
    }
}
