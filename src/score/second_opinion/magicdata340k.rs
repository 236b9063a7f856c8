//! MagicData340K by Polars: pairs of label sets are joined and counted by it; precision, recall, F1 and rewards are then worked out
//! pair by pair.

use std::collections::{BTreeMap, BTreeSet};

use polars::prelude::{
    DataFrame, DataType, IntoLazy, JoinType, LazyFrame, NULL, UnionArgs, col, concat, len, lit, when,
};

use super::{Sources, cols, count, float_column, int_column, ints, join, text_column, texts, whole};
use crate::error::Result;
use crate::ingest::artifacts::Taxonomy;

pub(super) use crate::ingest::magicdata340k::DATASET;

/// Assessor and revision.
type Assessor = (String, String);

/// The result tables that Polars computes.
pub(super) fn tables(sources: &Sources<'_>) -> Result<Vec<(&'static str, DataFrame)>> {
    let taxonomy = Taxonomy::load(sources.assets)?;
    let gold = gold(sources)?;
    let assessed = assessed(sources, gold.clone())?;
    Ok(vec![
        ("detection", detection(sources, &taxonomy, &assessed)?),
        ("label_shares", label_shares(sources, &taxonomy, &gold)?),
        ("artifact_rates", artifact_rates(sources, gold)?),
        ("rewards", rewards(sources, &taxonomy, &assessed)?),
    ])
}

fn gold(sources: &Sources<'_>) -> Result<LazyFrame> {
    let images =
        sources.counting("images", &["split", "image", "generator", "outcome", "labels_mask"], "labels", &[])?;
    let split = sources.text("split")?;
    let in_split = if split.is_empty() { lit(true) } else { col("split").eq(lit(split.to_owned())) };
    let gold = images.filter(col("outcome").eq(lit("ok")).and(in_split));
    Ok(gold.select(cols(&["split", "image", "generator", "labels_mask"])).collect()?.lazy())
}

/// Predictions with the labels of the image they are about.
fn assessed(sources: &Sources<'_>, gold: LazyFrame) -> Result<DataFrame> {
    let wanted = [
        "assessor",
        "model_revision",
        "split",
        "image",
        "exact_outcome",
        "exact_mask",
        "keywords_outcome",
        "keywords_mask",
    ];
    let predictions = sources.counting("predictions", &wanted, "prediction", &[])?.select(
        [col("assessor"), col("model_revision"), col("split").alias("told_split"), col("image")]
            .into_iter()
            .chain(cols(&wanted[4..]))
            .collect::<Vec<_>>(),
    );
    let gold = gold.select([col("split"), col("image"), col("labels_mask").alias("gold")]);
    let joined = join(predictions, gold, &["image"], JoinType::Inner).collect()?.lazy();
    let told = joined.clone().filter(col("told_split").eq(col("split")).and(col("told_split").neq(lit(""))));
    // What tells no split gives way to what does.
    let key = ["assessor", "model_revision", "split", "image"];
    let untold = join(joined.filter(col("told_split").eq(lit(""))), told.clone(), &key, JoinType::Anti);
    Ok(concat([told, untold], UnionArgs::default())?.collect()?)
}

/// tp, fp, fn and true negatives.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    tp: i64,
    fp: i64,
    misses: i64,
    others: i64,
}

impl Counts {
    fn add(&mut self, has: bool, says: bool, n: i64) {
        match (has, says) {
            (true, true) => self.tp += n,
            (false, true) => self.fp += n,
            (true, false) => self.misses += n,
            (false, false) => self.others += n,
        }
    }

    /// Precision, recall, F1.
    fn measures(self) -> [Option<f64>; 3] {
        let ratio = |part: i64, whole: i64| (whole > 0).then(|| part as f64 / whole as f64);
        [
            ratio(self.tp, self.tp + self.fp),
            ratio(self.tp, self.tp + self.misses),
            ratio(2 * self.tp, 2 * self.tp + self.fp + self.misses),
        ]
    }
}

fn detection(sources: &Sources<'_>, taxonomy: &Taxonomy, assessed: &DataFrame) -> Result<DataFrame> {
    let reading = sources.text("reading")?;
    let (drops, zero) = (sources.text("unusable")? == "out", sources.text("zero_division")? == "zero");
    let (outcome, mask) = (format!("{reading}_outcome"), format!("{reading}_mask"));
    let patterns = assessed
        .clone()
        .lazy()
        .filter(col("exact_outcome").neq(lit("missing")))
        .group_by(cols(&["assessor", "model_revision", "gold", &outcome, &mask]))
        .agg([len().cast(DataType::Int64).alias("n")])
        .collect()?;
    let assessors = texts(&patterns, "assessor")?.into_iter().zip(texts(&patterns, "model_revision")?);
    let (golds, masks, ns) = (whole(&patterns, "gold")?, ints(&patterns, &mask)?, whole(&patterns, "n")?);
    let outcomes = texts(&patterns, &outcome)?;
    let mut found: BTreeMap<Assessor, (Vec<Counts>, i64)> = BTreeMap::new();
    for (at, assessor) in assessors.enumerate() {
        let (counts, invalid) =
            found.entry(assessor).or_insert_with(|| (vec![Counts::default(); taxonomy.labels.len() + 1], 0));
        let n = ns[at];
        let is_usable = outcomes[at] == "ok";
        *invalid += if is_usable { 0 } else { n };
        if is_usable || !drops {
            // What is not usable says nothing.
            let (gold, says) = (golds[at], masks[at].unwrap_or(0));
            counts
                .iter_mut()
                .enumerate()
                .for_each(|(bit, counts)| counts.add(gold >> bit & 1 == 1, says >> bit & 1 == 1, n));
        }
    }
    let mut rows = Rows::default();
    for (assessor, (counts, invalid)) in &found {
        let shown = |measure: Option<f64>| if zero { measure.or(Some(0.0)) } else { measure };
        for (bit, counts) in counts.iter().enumerate() {
            let (level, label) = match bit.checked_sub(1).map(|place| &taxonomy.labels[place]) {
                Some(label) => (label.level.as_str(), label.label.as_str()),
                None => ("artifact", "artifact"),
            };
            rows.push(assessor, level, label, bit as i64, *invalid, Some(*counts), counts.measures().map(shown));
        }
        let main = |bit: &usize| *bit > 0 && taxonomy.labels[bit - 1].main == "yes";
        let four: Vec<Counts> = (0..counts.len()).filter(main).map(|bit| counts[bit]).collect();
        let mean = |which: usize| {
            let defined: Vec<f64> = four.iter().filter_map(|counts| shown(counts.measures()[which])).collect();
            (!defined.is_empty()).then(|| defined.iter().sum::<f64>() / defined.len() as f64)
        };
        rows.push(assessor, "macro", "macro", -2, *invalid, None, [mean(0), mean(1), mean(2)]);
        let sum = four.iter().fold(Counts::default(), |sum, one| Counts {
            tp: sum.tp + one.tp,
            fp: sum.fp + one.fp,
            misses: sum.misses + one.misses,
            others: one.tp + one.fp + one.misses + one.others,
        });
        rows.push(assessor, "micro", "micro", -1, *invalid, Some(sum), sum.measures().map(shown));
    }
    rows.frame()
}

#[derive(Default)]
struct Rows {
    texts: [Vec<String>; 4],
    ints: [Vec<Option<i64>>; 5],
    floats: [Vec<Option<f64>>; 3],
}

impl Rows {
    #[expect(clippy::too_many_arguments, reason = "the cells of a row")]
    fn push(
        &mut self,
        (assessor, revision): &Assessor,
        level: &str,
        label: &str,
        position: i64,
        invalid: i64,
        counts: Option<Counts>,
        measures: [Option<f64>; 3],
    ) {
        let cells = [assessor.as_str(), revision, level, label];
        self.texts.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell.to_owned()));
        let counts =
            [counts.map(|counts| counts.tp), counts.map(|counts| counts.fp), counts.map(|counts| counts.misses)];
        let cells = [Some(position), Some(invalid)].into_iter().chain(counts);
        self.ints.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
        self.floats.iter_mut().zip(measures).for_each(|(column, cell)| column.push(cell));
    }

    fn frame(self) -> Result<DataFrame> {
        let rows = self.texts[0].len();
        let names = ["assessor", "model_revision", "level", "label"];
        let mut columns: Vec<_> =
            names.into_iter().zip(self.texts).map(|(name, column)| text_column(name, column)).collect();
        let names = ["position", "n_invalid", "tp", "fp", "fn"];
        columns.extend(names.into_iter().zip(self.ints).map(|(name, column)| int_column(name, column)));
        let names = ["precision", "recall", "f1"];
        columns.extend(names.into_iter().zip(self.floats).map(|(name, column)| float_column(name, column)));
        Ok(DataFrame::new(rows, columns)?)
    }
}

/// Labels that the taxonomy lacks, and on how many images each stands.
fn unknown_labels(sources: &Sources<'_>) -> Result<DataFrame> {
    let split = sources.text("split")?;
    let in_split = if split.is_empty() { lit(true) } else { col("split").eq(lit(split.to_owned())) };
    let labels = sources.counting("labels", &["split", "image", "level", "label", "state"], "labels", &[])?;
    let unknown = labels.filter(col("state").eq(lit("unknown")).and(in_split));
    let once = unknown.group_by(cols(&["split", "image", "level", "label"])).agg([len()]);
    Ok(once.group_by(cols(&["level", "label"])).agg([len().cast(DataType::Int64).alias("n")]).collect()?)
}

fn label_shares(sources: &Sources<'_>, taxonomy: &Taxonomy, gold: &LazyFrame) -> Result<DataFrame> {
    let patterns =
        gold.clone().group_by(cols(&["labels_mask"])).agg([len().cast(DataType::Int64).alias("n")]).collect()?;
    let (masks, ns) = (whole(&patterns, "labels_mask")?, whole(&patterns, "n")?);
    let pairs: Vec<(i64, i64)> = masks.into_iter().zip(ns).collect();
    let with = |bit: usize| pairs.iter().filter(|(mask, _)| mask >> bit & 1 == 1).map(|(_, n)| n).sum::<i64>();
    let (images, artifacts) = (pairs.iter().map(|(_, n)| n).sum::<i64>(), with(0));
    let mut rows = vec![("l1", "Artifacts", 0, artifacts)];
    if images > 0 {
        rows.push(("l1", "Normal", -1, images - artifacts));
    } else {
        rows.clear();
    }
    for (place, label) in taxonomy.labels.iter().enumerate().filter(|_| images > 0) {
        rows.push((label.level.as_str(), label.label.as_str(), place as i64 + 1, with(place + 1)));
    }
    let unknown = unknown_labels(sources)?;
    let (levels, labels, ns) = (texts(&unknown, "level")?, texts(&unknown, "label")?, whole(&unknown, "n")?);
    for (at, (level, label)) in levels.iter().zip(&labels).enumerate() {
        rows.push((level, label, 1000, ns[at]));
    }
    let share = |n: i64, of: i64| (of > 0).then(|| n as f64 / of as f64);
    Ok(DataFrame::new(
        rows.len(),
        vec![
            text_column("level", rows.iter().map(|row| row.0.to_owned()).collect()),
            text_column("label", rows.iter().map(|row| row.1.to_owned()).collect()),
            int_column("position", rows.iter().map(|row| Some(row.2)).collect()),
            int_column("n", rows.iter().map(|row| Some(row.3)).collect()),
            float_column("share_of_images", rows.iter().map(|row| share(row.3, images)).collect()),
            float_column(
                "share_of_artifacts",
                rows.iter().map(|row| if row.1 == "Normal" { None } else { share(row.3, artifacts) }).collect(),
            ),
        ],
    )?)
}

fn artifact_rates(sources: &Sources<'_>, gold: LazyFrame) -> Result<DataFrame> {
    let told = sources.counting("generators", &["image", "generator"], "generator", &[])?;
    let told = told.group_by(cols(&["image"])).agg([col("generator").max().alias("told")]);
    let made = join(gold, told, &["image"], JoinType::Left).with_columns([
        when(col("generator").is_not_null()).then(col("generator")).otherwise(col("told")).alias("generator"),
        // An odd set has the binary label.
        when((col("labels_mask") % lit(2)).eq(lit(1))).then(lit(1)).otherwise(lit(NULL)).alias("artifact"),
    ]);
    let rates = made
        .filter(col("generator").is_not_null())
        .group_by(cols(&["generator"]))
        .agg([count(col("labels_mask"), "n"), count(col("artifact"), "artifacts")]);
    let rate = col("artifacts").cast(DataType::Float64) / col("n").cast(DataType::Float64);
    Ok(rates.with_column(rate.alias("rate")).collect()?)
}

fn rewards(sources: &Sources<'_>, taxonomy: &Taxonomy, assessed: &DataFrame) -> Result<DataFrame> {
    let (hit, fault) = (sources.number("hit")?, sources.number("fault")?);
    let weights = [
        sources.number("weight_format")?,
        sources.number("weight_binary")?,
        sources.number("weight_l2")?,
        sources.number("weight_l3")?,
    ];
    let (golds, masks) = (whole(assessed, "gold")?, ints(assessed, "exact_mask")?);
    let outcomes = texts(assessed, "exact_outcome")?;
    let mut parts: [Vec<Option<f64>>; 5] = Default::default();
    for (at, outcome) in outcomes.iter().enumerate() {
        let row = reward(taxonomy, golds[at], (outcome == "ok").then(|| masks[at].unwrap_or(0)), hit, fault);
        let total = row.iter().zip(weights).map(|(part, weight)| part * weight).sum();
        parts.iter_mut().zip(row.into_iter().chain([total])).for_each(|(column, part)| column.push(Some(part)));
    }
    let mut columns = Vec::new();
    for name in ["assessor", "model_revision", "split", "image"] {
        columns.push(text_column(name, texts(assessed, name)?));
    }
    let names = ["format", "binary_reward", "l2", "l3", "total"];
    columns.extend(names.into_iter().zip(parts).map(|(name, part)| float_column(name, part)));
    Ok(DataFrame::new(outcomes.len(), columns)?)
}

/// Format, binary, level 2, level 3.
fn reward(taxonomy: &Taxonomy, gold: i64, says: Option<i64>, hit: f64, fault: f64) -> [f64; 4] {
    let Some(says) = says else { return [0.0; 4] };
    if gold & 1 != says & 1 {
        return [1.0, 0.0, 0.0, 0.0];
    }
    if gold & 1 == 0 {
        return [1.0, 1.0, 0.0, 0.0];
    }
    let set = |mask: i64, level: &str| -> BTreeSet<&str> {
        let places = taxonomy
            .labels
            .iter()
            .enumerate()
            .filter(|(place, label)| label.level == level && mask >> (place + 1) & 1 == 1);
        places.map(|(_, label)| label.label.as_str()).collect()
    };
    let part = |gold: &BTreeSet<&str>, says: &BTreeSet<&str>| {
        if gold == says && !gold.is_empty() {
            return 1.0;
        }
        let hits = gold.intersection(says).count() as f64;
        let faults = gold.symmetric_difference(says).count() as f64;
        (hit * hits - fault * faults).clamp(0.0, 1.0)
    };
    let (gold_2, says_2) = (set(gold, "l2"), set(says, "l2"));
    let second = part(&gold_2, &says_2);
    if second == 0.0 {
        return [1.0, 1.0, 0.0, 0.0];
    }
    let is_shared = |label: &&str| {
        let parent =
            taxonomy.labels.iter().find(|row| row.label == *label && row.level == "l3").map(|row| row.l2.as_str());
        parent.is_some_and(|parent| gold_2.contains(parent) && says_2.contains(parent))
    };
    let third = part(
        &set(gold, "l3").into_iter().filter(is_shared).collect(),
        &set(says, "l3").into_iter().filter(is_shared).collect(),
    );
    [1.0, 1.0, second, third]
}
