//! `dims_en`: the facets of a prompt.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use sha2::{Digest, Sha256};

use crate::ingest::Notes;
use crate::schema::taxonomy::Rubric;
use crate::source::hex;

/// One facet of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptFacet {
    /// Place in the text, from 1.
    pub position: i64,
    /// Whether the rubric knows the path.
    pub in_rubric: bool,
}

/// Pillar, capability, facet.
pub type Path = (String, String, String);

/// Reads `L1 / L2 / L3; L1 / L2 / L3; …` against the rubric, since names may hold slashes; a path twice counts once.
pub fn facets(dims: &str, rubric: &Rubric, notes: &mut Notes) -> BTreeMap<Path, PromptFacet> {
    let mut facets = BTreeMap::new();
    for (position, path) in (1..).zip(dims.split(';').map(str::trim).filter(|path| !path.is_empty())) {
        let (key, in_rubric) = resolve(path, rubric);
        if !in_rubric {
            notes.add(&format!("facet not in the rubric: {path}"), 1);
        }
        match facets.entry(key) {
            Entry::Vacant(place) => {
                place.insert(PromptFacet { position, in_rubric });
            }
            Entry::Occupied(_) => notes.add("facets twice in one dims_en, counted once", 1),
        }
    }
    facets
}

fn resolve(path: &str, rubric: &Rubric) -> (Path, bool) {
    if let Some(known) = rubric.at_path(path) {
        return ((known.pillar.clone(), known.capability.clone(), known.facet.clone()), true);
    }
    let mut pieces = path.splitn(3, " / ").map(str::trim);
    let mut piece = || pieces.next().map_or_else(String::new, str::to_owned);
    let (pillar, capability, facet) = (piece(), piece(), piece());
    let known = rubric.pillars.iter().find(|known| known.name == pillar).filter(|known| known.alias(&facet).is_some());
    match known.and_then(|known| known.facet(&facet)) {
        Some(known) => ((pillar, known.capability.into(), known.facet.into()), true),
        None => ((pillar, capability, facet), false),
    }
}

/// The same facets in any order have the same digest.
pub fn digest(facets: &BTreeMap<Path, PromptFacet>) -> String {
    let mut sha256 = Sha256::new();
    for (pillar, capability, facet) in facets.keys() {
        sha256.update(format!("{pillar}\u{1f}{capability}\u{1f}{facet}\n"));
    }
    hex(&sha256.finalize()[..8])
}
