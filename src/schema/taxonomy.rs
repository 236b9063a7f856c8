//! Rubrics: `data/taxonomy/<dataset>.csv` (pillar, capability, facet in rubric order) and the documented aliases.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::dataset::read_csv;
use crate::assets::Assets;
use crate::error::Result;
use crate::source::hex;

/// A row of the rubric.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Facet {
    /// Level 1.
    pub pillar: String,
    /// Prefix of the pillar's response keys.
    pub prefix: String,
    /// Level 2.
    pub capability: String,
    /// Level 3.
    pub facet: String,
}

/// A name that judges write for another one.
#[derive(Debug, Clone, Deserialize)]
struct Alias {
    pillar: String,
    written: String,
    meant: String,
}

/// A facet's place in the rubric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known<'a> {
    /// Level 2.
    pub capability: &'a str,
    /// Level 3.
    pub facet: &'a str,
}

/// One pillar of a rubric.
#[derive(Debug, Clone)]
pub struct Pillar {
    /// Name.
    pub name: String,
    /// Prefix of its response keys, such as `real_world_fidelity`.
    pub prefix: String,
    capabilities: HashSet<String, RandomState>,
    capability_of: HashMap<String, String, RandomState>,
    aliases: HashMap<String, String, RandomState>,
}

impl Pillar {
    /// Looks a facet up, through the aliases.
    pub fn facet(&self, name: &str) -> Option<Known<'_>> {
        let name = self.alias(name).unwrap_or(name);
        self.capability_of.get_key_value(name).map(|(facet, capability)| Known { capability, facet })
    }

    /// Whether a capability of this name exists, through the aliases.
    pub fn has_capability(&self, name: &str) -> bool {
        self.capabilities.contains(self.alias(name).unwrap_or(name))
    }

    /// What a name means, if it is an alias.
    pub fn alias(&self, name: &str) -> Option<&str> {
        if self.aliases.is_empty() {
            return None;
        }
        self.aliases.get(name).map(String::as_str)
    }
}

/// A rubric of three levels.
#[derive(Debug, Clone)]
pub struct Rubric {
    /// Every facet, in rubric order.
    pub facets: Vec<Facet>,
    /// The pillars, in rubric order.
    pub pillars: Vec<Pillar>,
    /// Digest of the files it was read from.
    pub digest: String,
    by_path: HashMap<String, usize>,
}

impl Rubric {
    /// Reads the rubric of a dataset.
    pub fn load(assets: &Assets, dataset: &str) -> Result<Self> {
        let (path, aliases_path) =
            (format!("data/taxonomy/{dataset}.csv"), format!("data/taxonomy/{dataset}-aliases.csv"));
        let facets: Vec<Facet> = read_csv(assets, &path)?;
        let aliases: Vec<Alias> = read_csv(assets, &aliases_path)?;
        let digest = hex(&Sha256::digest(assets.text(&path)? + &assets.text(&aliases_path)?)[..8]);
        let mut pillars: Vec<Pillar> = Vec::new();
        for row in &facets {
            let at = match pillars.iter().position(|pillar| pillar.name == row.pillar) {
                Some(at) => at,
                None => {
                    pillars.push(Pillar {
                        name: row.pillar.clone(),
                        prefix: row.prefix.clone(),
                        capabilities: HashSet::default(),
                        capability_of: HashMap::default(),
                        aliases: HashMap::default(),
                    });
                    pillars.len() - 1
                }
            };
            pillars[at].capabilities.insert(row.capability.clone());
            pillars[at].capability_of.insert(row.facet.clone(), row.capability.clone());
        }
        for alias in aliases {
            for pillar in pillars.iter_mut().filter(|pillar| pillar.name == alias.pillar) {
                pillar.aliases.insert(alias.written.clone(), alias.meant.clone());
            }
        }
        let by_path = facets.iter().enumerate().map(|(at, row)| (row.path(), at)).collect();
        Ok(Self { facets, pillars, digest, by_path })
    }

    /// The facet of a path `pillar / capability / facet`; names may hold slashes, so the path is matched whole.
    pub fn at_path(&self, path: &str) -> Option<&Facet> {
        self.by_path.get(path).map(|at| &self.facets[*at])
    }
}

impl Facet {
    /// `pillar / capability / facet`
    pub fn path(&self) -> String {
        format!("{} / {} / {}", self.pillar, self.capability, self.facet)
    }
}
