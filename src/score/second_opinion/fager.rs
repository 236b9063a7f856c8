//! FAGER by Polars: answers are scored, gated and compared image by image; joins and means are its own.

use std::collections::{BTreeMap, BTreeSet};

use polars::prelude::{
    DataFrame, DataType, Expr, IntoLazy, JoinType, LazyFrame, NULL, UnionArgs, col, concat, len, lit, when,
};

use super::{Sources, cols, count, float_column, floats, int_column, ints, join, text_column, texts, whole};
use crate::error::Result;
use crate::python::round2;

pub(super) use crate::ingest::fager::DATASET;

const RUN: [&str; 4] = ["collection", "run", "model_revision", "judge"];
const LEVELS: [&str; 3] = ["level_1", "level_2", "level_3"];

/// Collection, run, revision, judge, and the prompt.
type Key = ([String; 4], i64);

/// The result tables that Polars computes.
pub(super) fn tables(sources: &Sources<'_>) -> Result<Vec<(&'static str, DataFrame)>> {
    let answers = answers(sources)?;
    let images = sources.counting("images", &with_index(), "image", &[])?.select(cols(&with_index())).collect()?;
    let scores = image_scores(sources, &answers, &images)?;
    let used = used_scores(sources, &scores)?;
    Ok(vec![
        ("by_category", by_category(&answers, &scores)?),
        ("leaderboard", leaderboard(sources, &scores, used.clone())?),
        ("by_level", by_level(used.clone())?),
        ("ab_accuracy", ab_accuracy(sources, used)?),
        ("image_scores", scores),
    ])
}

fn with_index() -> [&'static str; 5] {
    ["collection", "run", "model_revision", "judge", "prompt_index"]
}

/// Answers that count, each with its half points.
fn answers(sources: &Sources<'_>) -> Result<DataFrame> {
    let wanted =
        ["collection", "run", "model_revision", "judge", "prompt_index", "level", "category", "answer", "state"];
    let answers = sources.counting("answers", &wanted, "image", &[])?;
    let is_used = if sources.text("invalid_answers")? == "unknown" { lit(true) } else { col("state").eq(lit("ok")) };
    let points = when(col("answer").eq(lit("yes")))
        .then(lit(1.0))
        .when(col("answer").eq(lit("no")))
        .then(lit(0.0))
        .otherwise(lit(0.5));
    let category = when(col("category").fill_null(lit("")).eq(lit(""))).then(lit("(none)")).otherwise(col("category"));
    Ok(answers.filter(is_used).with_columns([points.alias("points"), category.alias("category")]).collect()?)
}

fn keys(frame: &DataFrame) -> Result<Vec<Key>> {
    let names = RUN.iter().map(|name| Ok(texts(frame, name)?)).collect::<Result<Vec<_>>>()?;
    let indices = whole(frame, "prompt_index")?;
    Ok((0..frame.height()).map(|at| ([0, 1, 2, 3].map(|which: usize| names[which][at].clone()), indices[at])).collect())
}

fn image_scores(sources: &Sources<'_>, answers: &DataFrame, images: &DataFrame) -> Result<DataFrame> {
    let (regenerate, keep) = (sources.number("regenerate_threshold")?, sources.number("keep_threshold")?);
    let is_zero_without = sources.text("no_level_1")? == "zero";
    let mut of: BTreeMap<Key, [Vec<f64>; 3]> = keys(images)?.into_iter().map(|key| (key, Default::default())).collect();
    let (levels, points) = (texts(answers, "level")?, floats(answers, "points")?);
    for (at, key) in keys(answers)?.into_iter().enumerate() {
        let place = LEVELS.iter().position(|level| *level == levels[at]);
        if let (Some(place), Some(point), Some(image)) = (place, points[at], of.get_mut(&key)) {
            image[place].push(point);
        }
    }
    let mean = |points: &[f64]| (!points.is_empty()).then(|| points.iter().sum::<f64>() / points.len() as f64 * 100.0);
    let mut scores: [Vec<Option<f64>>; 5] = Default::default();
    let mut counts: [Vec<Option<i64>>; 4] = Default::default();
    let (mut decisions, mut gated) = (Vec::new(), Vec::new());
    for levels in of.values() {
        let first = mean(&levels[0]).or(is_zero_without.then_some(0.0));
        let is_gated = first.map(|first| first <= regenerate);
        let shown = match is_gated {
            Some(false) => 3,
            Some(true) => 1,
            None => 0,
        };
        let all: Vec<f64> = levels[..shown].iter().flatten().copied().collect();
        let overall = if is_gated == Some(true) { first } else { mean(&all) };
        let level = |place: usize| if place < shown { mean(&levels[place]) } else { None };
        let cells = [first, level(1), level(2), overall, overall.map(round2)];
        scores.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
        let number = |point: f64| all.iter().filter(|other| **other == point).count() as i64;
        let cells = [number(1.0), number(0.0), number(0.5), all.len() as i64];
        counts.iter_mut().zip(cells).for_each(|(column, cell)| column.push(Some(cell)));
        decisions.push(match (is_gated, overall) {
            (Some(true), _) => Some("regenerate"),
            (_, Some(overall)) if overall >= keep => Some("keep"),
            (_, Some(_)) => Some("edit"),
            _ => None,
        });
        gated.push(is_gated == Some(true));
    }
    let mut columns: Vec<_> = RUN
        .into_iter()
        .enumerate()
        .map(|(at, name)| text_column(name, of.keys().map(|key| key.0[at].clone()).collect()))
        .collect();
    columns.push(int_column("prompt_index", of.keys().map(|key| Some(key.1)).collect()));
    let names = ["level_1", "level_2", "level_3", "overall", "overall_rounded"];
    columns.extend(names.into_iter().zip(scores).map(|(name, column)| float_column(name, column)));
    let names = ["n_yes", "n_no", "n_unknown", "n"];
    columns.extend(names.into_iter().zip(counts).map(|(name, column)| int_column(name, column)));
    columns.push(polars::prelude::Column::new("decision".into(), decisions));
    columns.push(polars::prelude::Column::new("gated".into(), gated));
    Ok(DataFrame::new(of.len(), columns)?)
}

/// Scores by name, as they enter means and comparisons, and unrounded.
fn used_scores(sources: &Sources<'_>, scores: &DataFrame) -> Result<LazyFrame> {
    let is_rounded = sources.text("rounding")? == "two_decimals";
    let mut frames = Vec::new();
    for name in LEVELS.into_iter().chain(["overall"]) {
        let unrounded = floats(scores, name)?;
        let used = unrounded.iter().map(|score| if is_rounded { score.map(round2) } else { *score }).collect();
        let mut columns =
            with_index().iter().map(|name| Ok(scores.column(name)?.clone())).collect::<Result<Vec<_>>>()?;
        columns.push(text_column("score_name", vec![name.to_owned(); scores.height()]));
        columns.push(float_column("score", used));
        columns.push(float_column("unrounded", unrounded));
        frames.push(DataFrame::new(scores.height(), columns)?.lazy().filter(col("score").is_not_null()));
    }
    Ok(concat(frames, UnionArgs::default())?)
}

fn leaderboard(sources: &Sources<'_>, scores: &DataFrame, used: LazyFrame) -> Result<DataFrame> {
    let number_of = |decision: &str, name: &str| {
        count(when(col("decision").eq(lit(decision.to_owned()))).then(lit(1)).otherwise(lit(NULL)), name)
    };
    let decisions = scores.clone().lazy().group_by(cols(&RUN)).agg([
        number_of("keep", "n_keep"),
        number_of("edit", "n_edit"),
        number_of("regenerate", "n_regenerate"),
    ]);
    let overall = used.filter(col("score_name").eq(lit("overall")));
    let means = overall.clone().group_by(cols(&RUN)).agg([
        col("score").mean().alias("overall"),
        col("unrounded").mean().alias("overall_unrounded"),
        count(col("score"), "n"),
    ]);
    let asked = sources.scan("questions", &["collection", "prompt_index"])?;
    let prompts = asked.group_by(cols(&["collection", "prompt_index"])).agg([len()]);
    let of_asked = join(overall.clone(), prompts.clone(), &["collection", "prompt_index"], JoinType::Semi);
    let of_asked = of_asked.group_by(cols(&RUN)).agg([count(col("score"), "n_covered")]);
    let asked = prompts;
    let asked = asked.group_by(cols(&["collection"])).agg([count(col("prompt_index"), "n_expected")]);
    let board = join(join(decisions, means, &RUN, JoinType::Left), of_asked, &RUN, JoinType::Left);
    let zero = |name: &str| col(name).fill_null(lit(0)).cast(DataType::Int64);
    let board = join(board, asked, &["collection"], JoinType::Left).with_columns([zero("n"), zero("n_covered")]);
    let coverage = col("n_covered").cast(DataType::Float64) / col("n_expected").cast(DataType::Float64);
    Ok(board.with_column(coverage.alias("coverage")).collect()?)
}

fn by_level(used: LazyFrame) -> Result<DataFrame> {
    let levels = used.filter(col("score_name").neq(lit("overall")));
    let key: Vec<Expr> = cols(&RUN).into_iter().chain([col("score_name").alias("level")]).collect();
    Ok(levels.group_by(key).agg([col("score").mean(), count(col("score"), "n").alias("n")]).collect()?)
}

fn by_category(answers: &DataFrame, scores: &DataFrame) -> Result<DataFrame> {
    let images = scores
        .clone()
        .lazy()
        .select(cols(&with_index()).into_iter().chain([col("gated"), col("decision")]).collect::<Vec<_>>());
    let evaluated = join(answers.clone().lazy(), images, &with_index(), JoinType::Inner)
        .filter(col("decision").is_not_null().and(col("gated").not().or(col("level").eq(lit("level_1")))));
    let key: Vec<Expr> = cols(&RUN).into_iter().chain([col("category")]).collect();
    let means =
        evaluated.group_by(key).agg([(col("points").mean() * lit(100.0)).alias("score"), count(col("points"), "n")]);
    Ok(means.collect()?)
}

/// Pairs to leave out: those a list names in its collection, and those named for every collection.
struct Excluded {
    listed: BTreeSet<(String, i64)>,
    named: BTreeSet<i64>,
}

fn excluded(sources: &Sources<'_>) -> Result<Excluded> {
    let wanted = sources.text("exclude")?;
    if wanted == "listed" {
        let listed = sources.scan("exclusions", &["collection", "prompt_index"])?.collect()?;
        let pairs = texts(&listed, "collection")?.into_iter().zip(ints(&listed, "prompt_index")?);
        let listed = pairs.filter_map(|(collection, index)| Some((collection, index?))).collect();
        return Ok(Excluded { listed, named: BTreeSet::new() });
    }
    let named = wanted.split(',').filter_map(|index| index.trim().parse().ok()).collect();
    Ok(Excluded { listed: BTreeSet::new(), named })
}

fn ab_accuracy(sources: &Sources<'_>, used: LazyFrame) -> Result<DataFrame> {
    let reference_run = sources.text("reference_run")?;
    let others = sources.counting(
        "scores",
        &["collection", "run", "prompt_index", "metric", "score", "state", "lower_is_better"],
        "score",
        &[],
    )?;
    let others = others.filter(col("state").eq(lit("ok"))).select([
        col("collection"),
        col("run"),
        lit("").alias("model_revision"),
        lit("").alias("judge"),
        col("prompt_index"),
        col("metric").alias("score_name"),
        col("score"),
        col("score").alias("unrounded"),
        col("lower_is_better"),
    ]);
    let all = concat([used.with_column(lit(false).alias("lower_is_better")), others], UnionArgs::default())?
        .collect()?
        .lazy();
    let on = ["collection", "judge", "score_name", "prompt_index"];
    let reference = all.clone().filter(col("run").eq(lit(reference_run.to_owned()))).select(
        cols(&on)
            .into_iter()
            .chain([
                col("score").alias("reference"),
                col("model_revision").alias("reference_revision"),
                col("unrounded").alias("reference_unrounded"),
                col("lower_is_better").alias("reference_lower"),
            ])
            .collect::<Vec<_>>(),
    );
    let pairs =
        join(all.filter(col("run").neq(lit(reference_run.to_owned()))), reference, &on, JoinType::Inner).collect()?;
    let Excluded { listed, named } = excluded(sources)?;
    let mut found: BTreeMap<[String; 6], Comparison> = BTreeMap::new();
    let names = ["collection", "run", "model_revision", "judge", "score_name", "reference_revision"];
    let names = names.iter().map(|name| Ok(texts(&pairs, name)?)).collect::<Result<Vec<_>>>()?;
    let (indices, real, fake) = (ints(&pairs, "prompt_index")?, floats(&pairs, "reference")?, floats(&pairs, "score")?);
    let (real_full, fake_full) = (floats(&pairs, "reference_unrounded")?, floats(&pairs, "unrounded")?);
    let lower: Vec<bool> = pairs
        .column("lower_is_better")?
        .bool()?
        .iter()
        .zip(pairs.column("reference_lower")?.bool()?.iter())
        .map(|(a, b)| a == Some(true) || b == Some(true))
        .collect();
    for at in 0..pairs.height() {
        let key = [0, 1, 2, 3, 4, 5].map(|which: usize| names[which][at].clone());
        let (Some(index), Some(real), Some(fake)) = (indices[at], real[at], fake[at]) else { continue };
        let is_excluded = named.contains(&index) || listed.contains(&(key[0].clone(), index));
        let comparison = found.entry(key).or_default();
        if is_excluded {
            comparison.excluded += 1;
            continue;
        }
        comparison.margins.push(real - fake);
        match (real == fake, (real > fake) != lower[at]) {
            (true, _) => {
                comparison.ties += 1;
                comparison.by_rounding += i64::from(real_full[at] != fake_full[at]);
            }
            (false, true) => comparison.correct += 1,
            (false, false) => comparison.wrong.push(index),
        }
    }
    found.retain(|_, comparison| !comparison.margins.is_empty());
    comparisons(&found, reference_run)
}

#[derive(Default)]
struct Comparison {
    correct: i64,
    ties: i64,
    by_rounding: i64,
    excluded: i64,
    wrong: Vec<i64>,
    margins: Vec<f64>,
}

fn comparisons(found: &BTreeMap<[String; 6], Comparison>, reference_run: &str) -> Result<DataFrame> {
    let names = ["collection", "generated_run", "model_revision", "judge", "score_name", "reference_revision"];
    let mut columns: Vec<_> = names
        .into_iter()
        .enumerate()
        .map(|(at, name)| text_column(name, found.keys().map(|key| key[at].clone()).collect()))
        .collect();
    columns.push(text_column("reference_run", vec![reference_run.to_owned(); found.len()]));
    let mut int = |name: &str, of: fn(&Comparison) -> i64| {
        columns.push(int_column(name, found.values().map(|comparison| Some(of(comparison))).collect()));
    };
    int("pairs", |c| c.margins.len() as i64);
    int("correct", |c| c.correct);
    int("ties", |c| c.ties);
    int("wrong", |c| c.wrong.len() as i64);
    int("ties_by_rounding", |c| c.by_rounding);
    int("n_excluded", |c| c.excluded);
    let mut float = |name: &str, of: fn(&Comparison) -> Option<f64>| {
        columns.push(float_column(name, found.values().map(of).collect()));
    };
    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }
    float("acc_full", |c| Some((c.correct + c.ties) as f64 / c.margins.len() as f64));
    float("acc_zero", |c| Some(c.correct as f64 / c.margins.len() as f64));
    float("acc_skip", |c| {
        let left = c.margins.len() as i64 - c.ties;
        (left > 0).then(|| c.correct as f64 / left as f64)
    });
    float("margin_mean", |c| Some(mean(&c.margins)));
    float("margin_sd", |c| {
        let centre = mean(&c.margins);
        Some(mean(&c.margins.iter().map(|margin| (margin - centre) * (margin - centre)).collect::<Vec<_>>()).sqrt())
    });
    let wrong = |comparison: &Comparison| {
        let mut wrong = comparison.wrong.clone();
        wrong.sort_unstable();
        wrong.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
    };
    columns.push(text_column("wrong_indices", found.values().map(wrong).collect()));
    Ok(DataFrame::new(found.len(), columns)?)
}
