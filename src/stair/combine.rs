//! Returned scores become one score an image.

use std::collections::BTreeMap;

use super::Scores;

/// How the pieces and the whole are mixed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mix {
    /// Pieces and whole, the whole with this weight and the pieces with the rest.
    Mean(f64),
    /// Pieces plus whole.
    Sum,
    /// The pieces alone.
    Pieces,
}

/// The score of an image.
#[derive(Debug, Clone, PartialEq)]
pub struct Combined {
    /// Image.
    pub name: String,
    /// Pieces that were scored.
    pub n: usize,
    /// Weighted score of the pieces.
    pub pieces: Option<f64>,
    /// Score of the whole image and prompt.
    pub whole: Option<f64>,
    /// Both mixed.
    pub score: Option<f64>,
    /// Why it is none.
    pub reason: Option<&'static str>,
}

/// Combines scores by image, in order of the names: piece k weighs 2^-(k-1), divided by the sum of the weights if `normalises`. An
/// image without score for one of its pieces, or for the whole where that counts, has none.
pub fn combine(scores: &Scores, normalises: bool, mix: Mix) -> Vec<Combined> {
    let expected = |name: &String| scores.expected.get(name).copied().unwrap_or(0);
    scores.by_image.iter().map(|(name, of)| one(name, of, expected(name), (normalises, mix))).collect()
}

fn one(name: &str, of: &BTreeMap<usize, Option<f64>>, expected: usize, (normalises, mix): (bool, Mix)) -> Combined {
    let n = of.keys().copied().max().unwrap_or(0).max(expected);
    let whole = of.get(&0).copied().flatten();
    let mut sum = Some(0.0);
    let (mut weight, mut weights) = (1.0, 0.0);
    for k in 1..=n {
        let score = of.get(&k).copied().flatten();
        sum = sum.zip(score).map(|(sum, score)| sum + weight * score);
        weights += weight;
        weight /= 2.0;
    }
    let pieces = sum.filter(|_| n > 0).map(|sum| if normalises { sum / weights } else { sum });
    let score = match mix {
        Mix::Pieces => pieces,
        Mix::Sum => pieces.zip(whole).map(|(pieces, whole)| pieces + whole),
        Mix::Mean(weight) => pieces.zip(whole).map(|(pieces, whole)| (1.0 - weight) * pieces + weight * whole),
    };
    let reason = match (score, pieces, n) {
        (Some(_), ..) => None,
        (None, _, 0) => Some("no piece was scored"),
        (None, None, _) => Some("a piece has no score"),
        (None, Some(_), _) => Some("the whole image has no score (k = 0)"),
    };
    Combined { name: name.to_owned(), n, pieces, whole, score, reason }
}
