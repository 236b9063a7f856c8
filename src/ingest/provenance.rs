//! How the images and replies of a source were made, as its maker tells it in a TOML file: what a reproducer asks for and no
//! file of replies says.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::{Error, ErrorKind, Result};
use crate::source::hex;

/// What is told of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// How the replies were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<Maker>,
    /// How the images were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<Maker>,
    /// The prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Option<Prompts>,
    /// The images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<Images>,
    /// Anything else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A model at work: the judge, or the image generator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Maker {
    /// Which weights, such as a hub repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// Their revision or digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Language of the prompts it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_language: Option<String>,
    /// Software and version that ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub software: Option<String>,
    /// Settings by name: seed, temperature, steps, …
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, Value>,
}

/// Which prompts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prompts {
    /// Where they are published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Revision of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Which IDs were used, if not all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids: Option<String>,
}

/// The images by digest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Images {
    /// A listing as `sha256sum` writes it, beside the TOML file; read into `sha256`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listing: Option<String>,
    /// SHA-256 by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sha256: BTreeMap<String, String>,
}

impl Provenance {
    /// Reads a provenance file, and the listing of images that it names.
    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, "read", e))?;
        let mut provenance: Self = toml::from_str(&text).map_err(|e| {
            Error::new(ErrorKind::Config, e.to_string())
                .with("file", path.display())
                .hint("[judge], [generation], [prompts], [images] and note; README.md shows one")
                .caused_by(e)
        })?;
        let wrong = |message: String| Error::new(ErrorKind::Config, message).with("file", path.display());
        for (section, maker) in [("judge", &provenance.judge), ("generation", &provenance.generation)] {
            let mut settings = maker.iter().flat_map(|maker| &maker.settings);
            if let Some((name, _)) = settings.find(|(_, value)| !is_plain(value)) {
                return Err(wrong(format!("[{section}] settings.{name} is a date, or a number that is not finite"))
                    .hint("write it as a text, between quotes"));
            }
        }
        if let Some(images) = &mut provenance.images {
            images.sha256.values_mut().for_each(|digest| digest.make_ascii_lowercase());
            if let Some((image, digest)) = images.sha256.iter().find(|(_, digest)| !is_sha256(digest)) {
                return Err(wrong(format!("`{digest}` is no SHA-256 in hexadecimal")).with("image", image));
            }
            if let Some(listing) = images.listing.take() {
                let beside = path.parent().unwrap_or(Path::new("")).join(listing);
                for (image, digest) in read_listing(&beside)? {
                    if images.sha256.get(&image).is_some_and(|told| *told != digest) {
                        return Err(wrong("two digests of one image".into()).with("image", image));
                    }
                    images.sha256.insert(image, digest);
                }
            }
        }
        // A section without content tells nothing.
        provenance.judge.take_if(|judge| *judge == Maker::default());
        provenance.generation.take_if(|generation| *generation == Maker::default());
        provenance.prompts.take_if(|prompts| *prompts == Prompts::default());
        provenance.images.take_if(|images| images.sha256.is_empty());
        provenance.note.take_if(|note| note.trim().is_empty());
        if provenance == Self::default() {
            return Err(wrong("the file tells nothing".into()));
        }
        Ok(provenance)
    }
}

/// Dates become tables of a private name, and numbers that are not finite become null, where TOML meets JSON.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => items.iter().all(is_plain),
        Value::Object(members) => members.iter().all(|(name, value)| !name.starts_with("$__toml") && is_plain(value)),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

impl Images {
    /// One digest over all: of the listing, sorted by path.
    pub fn digest(&self) -> String {
        let listing: String = self.sha256.iter().map(|(path, digest)| format!("{digest}  {path}\n")).collect();
        hex(&Sha256::digest(listing.as_bytes()))
    }
}

fn is_sha256(digest: &str) -> bool {
    digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Lines of `DIGEST  PATH` or `DIGEST *PATH`.
fn read_listing(path: &Path) -> Result<BTreeMap<String, String>> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, "read", e))?;
    let mut digests = BTreeMap::new();
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        // A backslash in front says that the name holds one, or a line end.
        let (is_escaped, text) = text.strip_prefix('\\').map_or((false, text), |rest| (true, rest));
        let parts = text.split_once(' ').filter(|(digest, _)| is_sha256(digest));
        let image = parts.and_then(|(_, image)| image.strip_prefix([' ', '*']));
        let (Some((digest, _)), Some(image)) = (parts, image) else {
            return Err(Error::new(ErrorKind::Config, "not a line of `sha256sum`: a digest, two blanks, a path")
                .with("file", path.display())
                .with("line", line));
        };
        let image = if is_escaped { image.replace("\\n", "\n").replace("\\\\", "\\") } else { image.to_owned() };
        let digest = digest.to_ascii_lowercase();
        if digests.insert(image.clone(), digest.clone()).is_some_and(|other| other != digest) {
            return Err(Error::new(ErrorKind::Config, format!("two digests of `{image}`"))
                .with("file", path.display())
                .with("line", line));
        }
    }
    Ok(digests)
}
