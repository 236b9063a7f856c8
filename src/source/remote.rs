//! URLs as inputs: a file of the web, an object of a bucket, all data below a prefix, or a glob over keys.

use std::path::Path;

use glob::Pattern;

use super::Location;
use super::expand::{Found, GLOB, is_data, is_glob, no_file};
use crate::error::{Error, ErrorKind, Result};
use crate::store::{self, BUCKET_SCHEMES, Entry, File, Folder, Web};

pub(super) fn expand(input: &str, found: &mut Found, passed_over: &mut Vec<String>, is_archive: bool) -> Result<()> {
    match input.split("://").next() {
        Some("https" | "http") => {
            let web = Web::find(input)?;
            if web.is_page {
                return Err(Error::new(ErrorKind::Input, "the server sends a web page, no data")
                    .with("url", &web)
                    .hint("name a file: the web has no folders; or does it ask for a login?"));
            }
            // Where a file is cut depends on its size; an archive is unpacked first.
            let size = web.size.or_else(|| is_archive.then_some(0)).ok_or_else(|| {
                Error::new(ErrorKind::Network, "the server does not say how large the file is")
                    .with("url", &web)
                    .hint("download it and give its path")
            })?;
            add(found, File::Web(web), size);
            Ok(())
        }
        Some(scheme) if BUCKET_SCHEMES.contains(&scheme) => bucket(input, found, passed_over, is_archive),
        Some("hf") => Err(Error::new(ErrorKind::Usage, "not a file of a dataset of the hub")
            .with("input", input)
            .hint("hf://datasets/OWNER/NAME[@REVISION]/PATH")),
        scheme => Err(Error::new(ErrorKind::Usage, format!("`{}://` inputs are not supported", scheme.unwrap_or("")))
            .with("input", store::redact(input))
            .hint("https://…, s3://…, gs://…, az://…, file://… and hf://datasets/OWNER/NAME[@REVISION]/PATH are")),
    }
}

fn add(found: &mut Found, file: File, size: u64) {
    // Two URLs of one name differ in what proves who asks, and in nothing else.
    let location = Location { uri: file.to_string(), file, size, revision: None };
    found.others.entry(location.uri.clone()).or_insert(location);
}

fn bucket(input: &str, found: &mut Found, passed_over: &mut Vec<String>, is_archive: bool) -> Result<()> {
    if !is_glob(input) {
        let folder = Folder::named(Path::new(input))?;
        let file = folder.file("");
        // A name that says what it holds is an object's; any other one most likely a prefix.
        let may_be_prefix = input.ends_with('/') || !(is_data(input) || is_archive) && folder.holds_something()?;
        if !may_be_prefix && let Some(size) = file.size()? {
            add(found, file, size);
            return Ok(());
        }
        return below(input, found, passed_over);
    }
    // A key may hold what globs are made of: one of this very name is meant alone.
    let file = Folder::named(Path::new(input))?.file("");
    if !input.ends_with('/')
        && is_data(input)
        && let Some(size) = file.size()?
    {
        add(found, file, size);
        return Ok(());
    }
    // What stands before the first wildcard is listed, and each key held against the whole.
    let wildcard = input.find(['*', '?', '[']).unwrap_or(input.len());
    let listed = &input[..input[..wildcard].rfind('/').map_or(wildcard, |at| at + 1)];
    // What is no glob can still be a key.
    let wanted = &input[listed.len()..];
    let pattern = Pattern::new(wanted).or_else(|_no_glob| Pattern::new(&Pattern::escape(wanted)));
    let pattern = pattern
        .map_err(|e| Error::new(ErrorKind::Usage, format!("not a glob: {e}")).with("input", input).caused_by(e))?;
    let entries = Folder::named(Path::new(listed))?.files()?;
    let matching: Vec<Entry> = entries.into_iter().filter(|entry| pattern.matches_with(&entry.inside, GLOB)).collect();
    if matching.is_empty() {
        return Err(no_file(input, "the glob matches nothing"));
    }
    matching.into_iter().for_each(|entry| add(found, entry.file, entry.bytes));
    Ok(())
}

/// All data below a prefix, as of a directory.
fn below(input: &str, found: &mut Found, passed_over: &mut Vec<String>) -> Result<()> {
    let is_hidden = |entry: &Entry| entry.inside.split('/').any(|name| name.starts_with('.'));
    let entries = Folder::named(Path::new(input))?.files()?;
    if entries.is_empty() {
        return Err(no_file(input, "no such object, and none below it"));
    }
    let mut files = 0;
    for entry in entries.into_iter().filter(|entry| !is_hidden(entry)) {
        if is_data(&entry.inside) {
            add(found, entry.file, entry.bytes);
            files += 1;
        } else {
            passed_over.push(entry.file.to_string());
        }
    }
    if files == 0 {
        return Err(no_file(input, "there is no .jsonl, .ndjson, .json, .csv or .tsv file below it"));
    }
    Ok(())
}
