//! Artifact labels as MagicMirror's people and assessors write them: what a text says under the exact reading and under the
//! keyword reading, as a set of labels of the taxonomy.

mod boxed;
pub mod exact;
pub mod gold;
pub mod keywords;

use std::collections::HashMap;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::assets::Assets;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::dataset::read_csv;
use crate::source::hex;

/// Key of the binary label.
const NORMAL: &str = "Whether Normal";
/// Key of the labels.
const DEFORMITY: &str = "Type of Deformity";
/// What the judge prompt's own examples call it.
const ABNORMALITY: &str = "Type of Abnormality";

/// Whether a reply of a person or an assessor is usable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It says what is there.
    Ok,
    /// There is none.
    Missing,
    /// No object, or nothing that tells normal from not.
    ParseFailed,
    /// An object that is not of the form asked for.
    Invalid,
}

impl Outcome {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Missing => "missing",
            Self::ParseFailed => "parse_failed",
            Self::Invalid => "invalid",
        }
    }
}

/// A set of labels: bit 0 is the binary label Artifact, bit `k` the `k`-th row of the taxonomy, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LabelSet(i64);

impl LabelSet {
    /// The binary label alone.
    pub const ARTIFACT: Self = Self(1);

    /// The set as a number, for the column `labels_mask`.
    pub fn mask(self) -> i64 {
        self.0
    }

    /// Whether the label at a place of the taxonomy, from 0, is in it.
    pub fn has(self, place: usize) -> bool {
        self.0 >> (place + 1) & 1 == 1
    }

    fn insert(&mut self, place: usize) {
        self.0 |= 1 << (place + 1);
    }
}

/// What a reading makes of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Whether it is usable.
    pub outcome: Outcome,
    /// Why not.
    pub reason: Option<String>,
    /// What it says, if it is.
    pub labels: LabelSet,
}

impl Reading {
    fn ok(labels: LabelSet) -> Self {
        Self { outcome: Outcome::Ok, reason: None, labels }
    }

    fn failed(outcome: Outcome, reason: impl Into<String>) -> Self {
        Self { outcome, reason: Some(reason.into()), labels: LabelSet::default() }
    }
}

/// A row of the taxonomy.
#[derive(Debug, Clone, Deserialize)]
pub struct Label {
    /// `l2` or `l3`.
    pub level: String,
    /// Name with its prefix.
    pub label: String,
    /// The level-2 label it belongs to, itself for one of level 2.
    pub l2: String,
    /// Short name of the level-2 label: attributes, interaction, human, animal, object, other.
    pub flag: String,
    /// `yes` for the four level-2 labels that macro and micro figures are over.
    pub main: String,
}

/// The taxonomy of labels.
#[derive(Debug, Clone)]
pub struct Taxonomy {
    /// Its rows.
    pub labels: Vec<Label>,
    /// Digest of the file it was read from.
    pub digest: String,
    by_name: HashMap<String, usize>,
    parents: Vec<usize>,
    with_children: Vec<bool>,
}

impl Taxonomy {
    /// Reads `data/taxonomy/magicdata340k.csv`.
    pub fn load(assets: &Assets) -> Result<Self> {
        const PATH: &str = "data/taxonomy/magicdata340k.csv";
        let invalid = |message: String| Error::new(ErrorKind::Config, message).with("file", PATH);
        let labels: Vec<Label> = read_csv(assets, PATH)?;
        if labels.len() > 62 {
            return Err(invalid("more than 62 labels do not fit a set".into()));
        }
        let by_name: HashMap<String, usize> =
            labels.iter().enumerate().map(|(place, label)| (label.label.clone(), place)).collect();
        let parent = |label: &Label| by_name.get(&label.l2).copied();
        let parents = labels
            .iter()
            .map(|label| parent(label).ok_or_else(|| invalid(format!("`{}` is no label", label.l2))))
            .collect::<Result<Vec<_>>>()?;
        let has_children =
            |place: usize| parents.iter().enumerate().any(|(child, parent)| *parent == place && child != place);
        let with_children = (0..labels.len()).map(has_children).collect();
        let digest = hex(&Sha256::digest(assets.text(PATH)?)[..8]);
        Ok(Self { labels, digest, by_name, parents, with_children })
    }

    /// The place of a label of level 2.
    fn level_2(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied().filter(|place| self.parents[*place] == *place)
    }

    /// The place of a label of level 3.
    fn level_3(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied().filter(|place| self.parents[*place] != *place)
    }

    /// Whether a level-2 label has labels of level 3.
    fn has_level_3(&self, place: usize) -> bool {
        self.with_children[place]
    }

    /// The places of the level-3 labels of a level-2 label.
    fn children(&self, place: usize) -> impl Iterator<Item = usize> {
        self.parents
            .iter()
            .enumerate()
            .filter(move |(child, parent)| **parent == place && *child != place)
            .map(|(child, _)| child)
    }

    /// The labels of a set, by name: those of level 3 behind their own of level 2.
    pub fn names(&self, set: LabelSet) -> Vec<&str> {
        (0..self.labels.len()).filter(|place| set.has(*place)).map(|place| self.labels[place].label.as_str()).collect()
    }

    /// Whether a set has the level-2 label of this short name.
    pub fn has_flag(&self, set: LabelSet, flag: &str) -> bool {
        self.labels.iter().enumerate().any(|(place, label)| label.level == "l2" && label.flag == flag && set.has(place))
    }
}
