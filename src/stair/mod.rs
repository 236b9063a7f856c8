//! The parts of StairReward (AGIQA-3K, arXiv 2306.04717) that need no model: which pieces of a prompt are scored against which crop
//! of the image, and how the returned scores are combined.
//!
//! A summary of the paper fixes this much: a prompt is split at prepositions and punctuation; the first piece is scored on a centred
//! crop of half the image side, the last on all of it (0.5, 0.75, 1 for three); each piece weighs half of the one before; the score
//! of the whole image and prompt is combined with theirs. It leaves open, and so these are choices here and no reproduction of
//! StairReward's numbers: the list of prepositions, whether a piece keeps its preposition, the crops of other counts than three, how
//! crops are rounded to pixels and resized, whether the weights are divided by their sum, and how the two parts are mixed.

mod combine;
mod input;

pub use combine::{Combined, Mix, combine};
pub use input::{Prompts, Scores};

use serde::Deserialize;

use crate::assets::Assets;
use crate::error::Result;
use crate::schema::dataset::read_csv;

/// How large the crop of a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crops {
    /// 0.5 + 0.5 (k − 1) / (n − 1): from half to full in even steps; 1 for a single piece.
    Even,
    /// (k + 1) / (n + 1): half of the image only for three pieces and more.
    Ratio,
}

/// One piece of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Piece {
    /// Place in the prompt, from 1.
    pub k: usize,
    /// Pieces of the prompt.
    pub n: usize,
    /// Its text.
    pub text: String,
    /// Side of its centred crop, as a fraction of the image's.
    pub fraction: f64,
    /// Its weight: half of that of the one before; all add up to 1.
    pub weight: f64,
}

/// Splits prompts.
#[derive(Debug, Clone)]
pub struct Splitter {
    prepositions: Vec<String>,
    crops: Crops,
    keeps_prepositions: bool,
}

#[derive(Deserialize)]
struct Preposition {
    preposition: String,
}

impl Splitter {
    /// A splitter with the prepositions of `data/prepositions.csv`.
    pub fn new(assets: &Assets, crops: Crops, keeps_prepositions: bool) -> Result<Self> {
        let rows: Vec<Preposition> = read_csv(assets, "data/prepositions.csv")?;
        let prepositions = rows.into_iter().map(|row| row.preposition.to_lowercase()).collect();
        Ok(Self { prepositions, crops, keeps_prepositions })
    }

    /// The pieces of a prompt, in order. Punctuation ends a piece, but for apostrophes and hyphens, and points and commas between
    /// digits; a preposition begins one. Pieces without a letter or digit are none.
    pub fn pieces(&self, prompt: &str) -> Vec<Piece> {
        let mut texts: Vec<String> = Vec::new();
        for clause in clauses(prompt) {
            let mut open: Vec<&str> = Vec::new();
            let mut end = |open: &mut Vec<&str>| {
                if open.iter().any(|word| word.chars().any(char::is_alphanumeric)) {
                    texts.push(open.join(" "));
                }
                open.clear();
            };
            for word in clause.split_whitespace() {
                let is_preposition = self.prepositions.contains(&word.to_lowercase());
                // A preposition on its own, as in "out of", stays with the next one.
                let only_prepositions = open.iter().all(|word| self.prepositions.contains(&word.to_lowercase()));
                if is_preposition && !only_prepositions {
                    end(&mut open);
                }
                if !is_preposition || self.keeps_prepositions {
                    open.push(word);
                }
            }
            end(&mut open);
        }
        let n = texts.len();
        let whole: f64 = (0..n).map(half_to_the).sum();
        let piece = |(at, text)| Piece {
            k: at + 1,
            n,
            text,
            fraction: self.crops.fraction(at + 1, n),
            weight: half_to_the(at) / whole,
        };
        texts.into_iter().enumerate().map(piece).collect()
    }
}

fn half_to_the(power: usize) -> f64 {
    (0..power).fold(1.0, |weight, _| weight / 2.0)
}

impl Crops {
    fn fraction(self, k: usize, n: usize) -> f64 {
        match self {
            Self::Even if n > 1 => 0.5 + 0.5 * (k - 1) as f64 / (n - 1) as f64,
            Self::Even => 1.0,
            Self::Ratio => (k + 1) as f64 / (n + 1) as f64,
        }
    }
}

impl Piece {
    /// Left, top, right and bottom of its crop, as fractions of the image.
    pub fn crop(&self) -> [f64; 4] {
        let margin = (1.0 - self.fraction) / 2.0;
        [margin, margin, 1.0 - margin, 1.0 - margin]
    }

    /// The same in pixels, each edge rounded to the nearest, halves up.
    pub fn pixels(&self, width: u32, height: u32) -> [u64; 4] {
        let [left, top, right, bottom] = self.crop();
        let edge = |fraction: f64, side: u32| (fraction * f64::from(side) + 0.5).floor() as u64;
        [edge(left, width), edge(top, height), edge(right, width), edge(bottom, height)]
    }
}

/// The text between punctuation marks.
fn clauses(prompt: &str) -> Vec<&str> {
    let chars: Vec<(usize, char)> = prompt.char_indices().collect();
    let is_digit = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(|(_, c)| c.is_ascii_digit());
    let mut clauses = Vec::new();
    let mut start = 0;
    for (place, (at, c)) in chars.iter().enumerate() {
        let in_number = matches!(c, '.' | ',') && is_digit(place.checked_sub(1)) && is_digit(Some(place + 1));
        let is_mark = !c.is_alphanumeric() && !c.is_whitespace() && !matches!(c, '\'' | '’' | '-' | '_') && !in_number;
        if is_mark {
            clauses.push(&prompt[start..*at]);
            start = at + c.len_utf8();
        }
    }
    clauses.push(&prompt[start..]);
    clauses
}
