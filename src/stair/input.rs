//! Files of prompts and of returned scores: tables or JSON lines.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::{Error, ErrorKind, Result};
use crate::python::json::{self, Node, Value};
use crate::source::{self, Content, Location, Segments};

/// Bytes of a segment, and of the longest line.
const SEGMENT: usize = 8 << 20;
const LONGEST: usize = 64 << 20;

/// Different prompts, in order.
#[derive(Debug, Clone, Default)]
pub struct Prompts(pub BTreeSet<String>);

/// Scores by image and piece: 0 is the whole image and prompt.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    /// By image and `k`.
    pub by_image: BTreeMap<String, BTreeMap<usize, Option<f64>>>,
    /// Pieces that an image should have, where the file has the column `n` of the plan.
    pub expected: BTreeMap<String, usize>,
}

impl Prompts {
    /// The column `prompt` of a file.
    pub fn read(input: &str) -> Result<Self> {
        let mut prompts = BTreeSet::new();
        each(input, |record| {
            prompts.insert(record.required("prompt")?);
            Ok(())
        })?;
        Ok(Self(prompts))
    }
}

impl Scores {
    /// The columns `name`, `k` and `score` of a file, and `n` if it has it; an empty score or NaN is none.
    pub fn read(input: &str) -> Result<Self> {
        let mut scores = Self::default();
        each(input, |record| {
            let (name, k) = (record.required("name")?, record.required("k")?);
            let k = k
                .trim()
                .parse::<f64>()
                .ok()
                .filter(|k| k.fract() == 0.0 && (0.0..=1000.0).contains(k))
                .map(|k| k as usize);
            let k = k.ok_or_else(|| "`k` is no whole number from 0 to 1000".to_owned())?;
            if let Some(text) = record.text("n").filter(|text| !text.trim().is_empty()) {
                let n = text.trim().parse::<usize>().map_err(|e| format!("`n`: {e}"))?;
                let expected = scores.expected.entry(name.clone()).or_default();
                *expected = n.max(*expected);
            }
            let score = match record.text("score").as_deref().map(str::trim) {
                None | Some("") => None,
                Some(text) => {
                    let value: f64 = text.parse().map_err(|e| format!("`score`: {e}"))?;
                    value.is_finite().then_some(value)
                }
            };
            match scores.by_image.entry(name.clone()).or_default().insert(k, score) {
                Some(_) => Err(format!("a second score of {name} with k = {k}")),
                None => Ok(()),
            }
        })?;
        Ok(scores)
    }
}

struct Record(BTreeMap<String, String>);

impl Record {
    fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    fn required(&self, name: &str) -> Result<String, String> {
        let found = self.text(name).filter(|text| !text.trim().is_empty());
        found.ok_or_else(|| {
            let keys: Vec<_> = self.0.keys().map(String::as_str).collect();
            format!("no `{name}`: the record has the keys {}", keys.join(", "))
        })
    }
}

/// Hands over each record of a file; what is wrong with one ends the walk, with file and line.
fn each(input: &str, mut take: impl FnMut(Record) -> Result<(), String>) -> Result<()> {
    let expanded = source::expand(&[input.to_owned()]);
    if let Some((_, error)) = expanded.failed.into_iter().next() {
        return Err(error);
    }
    let mut count = 0_u64;
    for location in &expanded.locations {
        let at = |line: u64, reason: String| {
            Error::new(ErrorKind::Input, reason).with("file", &location.uri).with("line", line)
        };
        let mut segments = opened(location)?;
        while let Some(segment) = segments.next()? {
            for found in segment.records() {
                count += 1;
                let record = members(found.content).map_err(|reason| at(found.number, reason))?;
                take(record).map_err(|reason| at(found.number, reason))?;
            }
        }
    }
    match count {
        0 => Err(Error::new(ErrorKind::Input, "no records").with("file", input)),
        _ => Ok(()),
    }
}

fn opened(location: &Location) -> Result<Segments<Box<dyn std::io::Read + Send>>> {
    Ok(Segments::new(source::open(location)?.reader, location, SEGMENT, LONGEST))
}

fn members(content: Content<'_>) -> Result<Record, String> {
    match content {
        Content::Row(row) => {
            Ok(Record(row.named()?.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect()))
        }
        Content::Json(bytes) => {
            let text = std::str::from_utf8(bytes).map_err(|e| format!("not UTF-8: {e}"))?;
            let Ok(Value::Object(members)) = json::parse(text).map(|node| node.value) else {
                return Err("no JSON object".into());
            };
            let text = |node: Node<'_>| match node.value {
                Value::String(text) => text.into_owned(),
                Value::Null => String::new(),
                _ => node.text.to_owned(),
            };
            Ok(Record(members.into_iter().map(|(name, node)| (name.into_owned(), text(node))).collect()))
        }
    }
}
