//! Agreement of two rankings: SRCC (Spearman 1904) and KRCC (tau-b, Kendall 1945) of two boards' scores, with bootstrap intervals: over prompts
//! where a board has prompts, else over models.

use rayon::prelude::*;

use super::{Bounds, Replicates, Resampling};
use crate::correlation::{Coefficient, Pairs};
use crate::pipeline::PlannedIntervals;

/// One board: the scores of the models that both have, in one order, and each score's replicates over prompts where there are any.
#[derive(Debug, Clone)]
pub struct Board {
    /// A score a model; higher is better.
    pub scores: Vec<f64>,
    /// Replicates of each, all of one length.
    pub replicates: Option<Vec<Vec<f64>>>,
}

/// What was drawn with replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    /// Prompts: how sure the agreement of these models is.
    Prompts,
    /// Models: how sure it would be of others like them.
    Models,
}

impl Drawn {
    /// As written in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prompts => "prompts",
            Self::Models => "models",
        }
    }
}

/// One coefficient.
#[derive(Debug, Clone, PartialEq)]
pub struct Agreement {
    /// srcc or krcc.
    pub statistic: &'static str,
    /// The coefficient.
    pub estimate: Option<f64>,
    /// Percentile interval.
    pub bounds: Option<Bounds>,
    /// What was drawn.
    pub drawn: Drawn,
    /// Models.
    pub n: usize,
    /// Replicates in which it is defined.
    pub replicates: usize,
    /// Why there is no coefficient or no interval.
    pub reason: Option<String>,
}

type Measure = fn(&Pairs) -> Coefficient;
const MEASURES: [(&str, Measure); 2] = [("srcc", Pairs::srcc), ("krcc", Pairs::krcc)];

/// Intervals over models of fewer say nothing; and over prompts two models can only agree or disagree.
const FEW: usize = 4;
const FEWEST: usize = 3;

/// The agreement of two boards.
pub fn rankings(left: &Board, right: &Board, plan: &PlannedIntervals) -> Vec<Agreement> {
    let n = left.scores.len();
    let has_prompts = left.replicates.is_some() || right.replicates.is_some();
    let drawn = if has_prompts { Drawn::Prompts } else { Drawn::Models };
    let resampling = Resampling { replicates: plan.replicates, seed: plan.seed };
    let replicate = |at: usize| -> [f64; 2] {
        let pairs = if has_prompts {
            let of = |board: &Board, model: usize| match &board.replicates {
                Some(replicates) => replicates[model][at],
                None => board.scores[model],
            };
            Pairs::new((0..n).map(|model| (of(left, model), of(right, model))))
        } else {
            let mut counts = Vec::new();
            resampling.counts(at, n, &mut counts);
            let drawn = (0..n).flat_map(|model| std::iter::repeat_n(model, counts[model] as usize));
            Pairs::new(drawn.map(|model| (left.scores[model], right.scores[model])))
        };
        MEASURES.map(|(_, measure)| measure(&pairs).unwrap_or(f64::NAN))
    };
    let all: Vec<[f64; 2]> = (0..plan.replicates).into_par_iter().map(replicate).collect();
    let whole = Pairs::new(left.scores.iter().copied().zip(right.scores.iter().copied()));
    let one = |(place, (statistic, measure)): (usize, &(&'static str, Measure))| {
        let estimate = measure(&whole);
        let replicates = Replicates::new(all.iter().map(|row| row[place]).collect());
        let too_few = n < if drawn == Drawn::Models { FEW } else { FEWEST };
        let bounds = estimate.is_ok().then(|| replicates.percentile(plan.confidence)).flatten().filter(|_| !too_few);
        let reason = match (&estimate, bounds) {
            (Err(reason), _) => Some(reason.to_string()),
            (Ok(_), None) => Some("too few models".to_owned()),
            _ => None,
        };
        let (estimate, replicates) = (estimate.ok(), replicates.len());
        Agreement { statistic, estimate, bounds, drawn, n, replicates, reason }
    };
    MEASURES.iter().enumerate().map(one).collect()
}
