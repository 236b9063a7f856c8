//! Ranks that chance might have given, and groups of models that tests cannot separate.

/// Places in descending order of score, 1-2-2-4; NaN has none.
pub fn places(scores: &[f64]) -> Vec<Option<u64>> {
    let mut sorted: Vec<f64> = scores.iter().copied().filter(|score| !score.is_nan()).collect();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let place = |score: &f64| (!score.is_nan()).then(|| sorted.partition_point(|other| *other > *score) as u64 + 1);
    scores.iter().map(place).collect()
}

/// What the bootstrap says of one model's rank.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankSpread {
    /// The least rank r with a share of replicates at or below r of at least half of what the confidence leaves.
    pub low: u64,
    /// The least rank r with a share of replicates at or below r of at least the rest.
    pub high: u64,
    /// Share of replicates in which it is first.
    pub first: f64,
}

/// The distribution of ranks over replicates of several models' scores, one list a model; `None` for one without any.
pub fn rank_spreads(replicates: &[Vec<f64>], confidence: f64) -> Vec<Option<RankSpread>> {
    let models = replicates.len();
    let mut counts = vec![vec![0_u64; models + 1]; models];
    let rounds = replicates.first().map_or(0, Vec::len);
    let mut scores = vec![0.0; models];
    for round in 0..rounds {
        scores.iter_mut().zip(replicates).for_each(|(score, all)| *score = all[round]);
        for (counts, place) in counts.iter_mut().zip(places(&scores)) {
            if let Some(place) = place {
                counts[place as usize] += 1;
            }
        }
    }
    let tail = (1.0 - confidence) / 2.0;
    let spread = |counts: Vec<u64>| {
        let total: u64 = counts.iter().sum();
        let quantile = |share: f64| {
            let mut seen = 0;
            let at = counts.iter().position(|count| {
                seen += count;
                // Half a replicate for the rounding of the share.
                seen as f64 + 0.5 > share * total as f64 && seen > 0
            });
            at.unwrap_or(models) as u64
        };
        (total > 0).then(|| RankSpread {
            low: quantile(tail),
            high: quantile(1.0 - tail),
            first: counts[1] as f64 / total as f64,
        })
    };
    counts.into_iter().map(spread).collect()
}

/// The compact display of pairwise tests: groups, in the order of their best members, such that two models share one exactly if no
/// test separates them (insert and absorb, Piepho 2004). Models come in descending order; gives the groups of each, from 1.
pub fn groups(models: usize, are_separated: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<bool>> = vec![vec![true; models]];
    for a in 0..models {
        for b in a + 1..models {
            if !are_separated(a, b) {
                continue;
            }
            let (split, kept): (Vec<_>, Vec<_>) = sets.into_iter().partition(|set| set[a] && set[b]);
            sets = kept;
            for set in split {
                for left_out in [a, b] {
                    let mut one = set.clone();
                    one[left_out] = false;
                    sets.push(one);
                }
            }
            absorb(&mut sets);
        }
    }
    let first = |set: &Vec<bool>| set.iter().position(|member| *member);
    let last = |set: &Vec<bool>| set.iter().rposition(|member| *member);
    sets.sort_by_key(|set| (first(set), last(set), set.clone()));
    (0..models)
        .map(|model| (1..).zip(&sets).filter(|(_, set)| set[model]).map(|(number, _)| number).collect())
        .collect()
}

/// Takes out the sets that lie within another.
fn absorb(sets: &mut Vec<Vec<bool>>) {
    let within = |a: &[bool], b: &[bool]| a.iter().zip(b).all(|(a, b)| !a || *b);
    let mut at = 0;
    while at < sets.len() {
        let is_absorbed = (0..sets.len())
            .any(|other| other != at && within(&sets[at], &sets[other]) && (sets[at] != sets[other] || other < at));
        if is_absorbed {
            sets.remove(at);
        } else {
            at += 1;
        }
    }
}
