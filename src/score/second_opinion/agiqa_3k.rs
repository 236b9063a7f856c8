//! AGIQA-3K by Polars: moments by group, and correlations. Ranks and Kendall's counts are found in other ways than in
//! [`crate::correlation`]: by looking places up, and by a tree of counts. The logistic fit has no second opinion.

use std::collections::BTreeMap;

use polars::prelude::{
    DataFrame, DataType, Expr, IntoLazy, JoinType, LazyFrame, NULL, UnionArgs, col, concat, lit, when,
};

use super::{Sources, cols, count, float_column, floats, int_column, join, text_column, texts};
use crate::error::Result;

pub(super) use crate::ingest::agiqa_3k::DATASET;

/// The result tables that Polars computes.
pub(super) fn tables(sources: &Sources<'_>) -> Result<Vec<(&'static str, DataFrame)>> {
    if sources.plan.name == "mos_from_ratings" {
        return Ok(vec![("mos", mos(sources)?)]);
    }
    let groups = groups(sources)?;
    Ok(vec![("mos_by_group", mos_by_group(&groups)?), ("agreement", agreement(sources, &groups)?)])
}

fn or_none(name: &str) -> Expr {
    col(name).fill_null(lit("(none)"))
}

fn crossed(left: Expr, right: Expr) -> Expr {
    left + lit("|") + right
}

/// One row an image and kind of group.
fn groups(sources: &Sources<'_>) -> Result<DataFrame> {
    let wanted = ["name", "generator", "variant", "style", "length", "mos_quality", "mos_align"];
    let images = sources.counting("images", &wanted, "image", &[])?.collect()?;
    let among = |column: Expr, names: &str| {
        let tests = names.split(',').map(|name| column.clone().eq(lit(name.to_owned())));
        tests.reduce(Expr::or).unwrap_or_else(|| lit(false))
    };
    let style_group = when(among(col("style"), "baroque style"))
        .then(lit("baroque"))
        .when(among(col("style"), "anime style,realistic style"))
        .then(lit("anime+realistic"))
        .when(among(col("style"), "abstract style,sci-fi style"))
        .then(lit("abstract+sci-fi"))
        .otherwise(or_none("style"));
    let tier = when(among(col("generator"), sources.text("tier_bad")?))
        .then(lit("bad"))
        .when(among(col("generator"), sources.text("tier_medium")?))
        .then(lit("medium"))
        .when(among(col("generator"), sources.text("tier_good")?))
        .then(lit("good"))
        .otherwise(lit("(none)"));
    let length = || col("length").cast(DataType::String);
    let kinds = [
        ("all", lit("all")),
        ("generator", or_none("generator")),
        ("variant", or_none("variant")),
        ("generator_variant", crossed(or_none("generator"), or_none("variant"))),
        ("style", or_none("style")),
        ("style_group", style_group),
        ("length", length()),
        ("tier", tier),
        ("generator_length", crossed(or_none("generator"), length())),
        ("generator_style", crossed(or_none("generator"), or_none("style"))),
    ];
    let frames: Vec<LazyFrame> = kinds
        .into_iter()
        .map(|(kind, name)| {
            images.clone().lazy().select([
                col("name"),
                lit(kind).alias("group_kind"),
                name.alias("group_name"),
                col("mos_quality"),
                col("mos_align"),
            ])
        })
        .collect();
    Ok(concat(frames, UnionArgs::default())?.collect()?)
}

fn mos_by_group(groups: &DataFrame) -> Result<DataFrame> {
    let target = |name: &str, column: &str| {
        let value = || col(column);
        groups.clone().lazy().filter(value().is_not_null()).group_by(cols(&["group_kind", "group_name"])).agg([
            lit(name.to_owned()).first().alias("target"),
            count(value(), "n"),
            value().mean().alias("mean"),
            value().std(1).alias("sd"),
            value().min().alias("minimum"),
            value().median().alias("median"),
            value().max().alias("maximum"),
        ])
    };
    Ok(concat([target("quality", "mos_quality"), target("align", "mos_align")], UnionArgs::default())?.collect()?)
}

fn agreement(sources: &Sources<'_>, groups: &DataFrame) -> Result<DataFrame> {
    let predictions = sources.counting("predictions", &["metric", "name", "value"], "prediction", &["metric"])?;
    let predictions = predictions.select(cols(&["metric", "name", "value"]));
    let joined = join(groups.clone().lazy(), predictions, &["name"], JoinType::Inner).collect()?;
    let mut pairs: BTreeMap<[String; 4], Vec<(f64, f64)>> = BTreeMap::new();
    let mut add = |frame: &DataFrame, metrics: Vec<String>, target: &str, x: &str, y: &str| -> Result<()> {
        let (kinds, names) = (texts(frame, "group_kind")?, texts(frame, "group_name")?);
        let (x, y) = (floats(frame, x)?, floats(frame, y)?);
        for (at, metric) in metrics.into_iter().enumerate() {
            let group = pairs.entry([metric, target.to_owned(), kinds[at].clone(), names[at].clone()]).or_default();
            group.extend(x[at].zip(y[at]));
        }
        Ok(())
    };
    add(&joined, texts(&joined, "metric")?, "quality", "value", "mos_quality")?;
    add(&joined, texts(&joined, "metric")?, "align", "value", "mos_align")?;
    add(groups, vec!["mos_quality".to_owned(); groups.height()], "align", "mos_quality", "mos_align")?;
    let names = ["metric", "target", "group_kind", "group_name"];
    let column = |at: usize| pairs.keys().map(|key| key[at].clone()).collect();
    let mut columns: Vec<_> = names.into_iter().enumerate().map(|(at, name)| text_column(name, column(at))).collect();
    columns.push(int_column("n", pairs.values().map(|pairs| Some(pairs.len() as i64)).collect()));
    columns.push(float_column("srcc", pairs.values().map(|pairs| spearman(pairs)).collect()));
    columns.push(float_column("krcc", pairs.values().map(|pairs| kendall(pairs)).collect()));
    columns.push(float_column("plcc", pairs.values().map(|pairs| pearson(pairs.iter().copied())).collect()));
    Ok(DataFrame::new(pairs.len(), columns)?)
}

fn pearson(pairs: impl Iterator<Item = (f64, f64)> + Clone) -> Option<f64> {
    let most =
        |of: fn((f64, f64)) -> f64| pairs.clone().map(of).fold(f64::MIN_POSITIVE, |most, value| most.max(value.abs()));
    let (x_unit, y_unit) = (most(|pair| pair.0), most(|pair| pair.1));
    let pairs = pairs.map(move |(x, y)| (x / x_unit, y / y_unit));
    let n = pairs.clone().count() as f64;
    let mean = |of: fn((f64, f64)) -> f64| pairs.clone().map(of).sum::<f64>() / n;
    let (x_mean, y_mean) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let (mut xy, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs.clone() {
        xy += (x - x_mean) * (y - y_mean);
        xx += (x - x_mean) * (x - x_mean);
        yy += (y - y_mean) * (y - y_mean);
    }
    let first = pairs.clone().next()?;
    let varies = pairs.clone().any(|pair| pair.0 != first.0) && pairs.clone().any(|pair| pair.1 != first.1);
    (n > 1.0 && varies).then(|| xy / (xx * yy).sqrt())
}

/// Places of a value among sorted ones: how many are below it, and how many are not above.
fn places(sorted: &[f64], value: f64) -> (usize, usize) {
    (sorted.partition_point(|other| *other < value), sorted.partition_point(|other| *other <= value))
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let (x, y) = (sorted(pairs.iter().map(|pair| pair.0)), sorted(pairs.iter().map(|pair| pair.1)));
    let rank = |sorted: &[f64], value: f64| {
        let (below, up_to) = places(sorted, value);
        (below + up_to + 1) as f64 / 2.0
    };
    pearson(pairs.iter().map(|pair| (rank(&x, pair.0), rank(&y, pair.1))))
}

/// Concordant less discordant pairs by a tree that counts, for each value of x in turn, how many y came below it and above.
fn kendall(pairs: &[(f64, f64)]) -> Option<f64> {
    let y = sorted(pairs.iter().map(|pair| pair.1));
    let mut by_x = pairs.to_vec();
    by_x.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut tree = vec![0_i64; y.len() + 1];
    let before = |tree: &[i64], mut at: usize| {
        let mut sum = 0;
        while at > 0 {
            sum += tree[at];
            at &= at - 1;
        }
        sum
    };
    let (mut difference, mut untied_x, mut untied_y, mut seen) = (0_i64, 0_i64, 0_i64, 0_i64);
    for run in by_x.chunk_by(|a, b| a.0 == b.0) {
        for (_, value) in run {
            let (below, up_to) = places(&y, *value);
            difference += before(&tree, below) - (seen - before(&tree, up_to));
            untied_y += (y.len() - (up_to - below)) as i64;
        }
        untied_x += run.len() as i64 * (pairs.len() - run.len()) as i64;
        for (_, value) in run {
            let mut at = places(&y, *value).0 + 1;
            while at < tree.len() {
                tree[at] += 1;
                at += at & at.wrapping_neg();
            }
        }
        seen += run.len() as i64;
    }
    // Both counts went over every pair twice.
    let base = (untied_x as f64 / 2.0 * (untied_y as f64 / 2.0)).sqrt();
    (base > 0.0).then(|| difference as f64 / base)
}

/// Mean opinion scores from single ratings.
fn mos(sources: &Sources<'_>) -> Result<DataFrame> {
    let wanted = ["target", "session", "subject", "item", "score", "state"];
    let ratings = sources.counting("ratings", &wanted, "rating", &[])?.filter(col("state").eq(lit("ok")));
    let (outlier_sd, is_by_subject) = (sources.number("outlier_sd")?, sources.plan.protocol == "subject_session");
    let item = ["target", "session", "item"];
    let spreads = ratings.clone().group_by(cols(&item)).agg([
        col("score").mean().alias("item_mean"),
        col("score").std(1).alias("item_sd"),
        count(col("score"), "item_n"),
    ]);
    let is_far = (col("score") - col("item_mean")).pow(lit(2.0)).sqrt().gt(lit(outlier_sd) * col("item_sd"));
    let is_outlier = lit(outlier_sd > 0.0).and(col("item_n").gt(lit(2))).and(is_far).fill_null(lit(false));
    let unit = if is_by_subject { col("subject") } else { lit("") };
    let judged = join(ratings, spreads, &item, JoinType::Left)
        .with_columns([is_outlier.alias("is_outlier"), unit.alias("unit")])
        .collect()?;
    let place = ["target", "session", "unit"];
    let values = judged
        .clone()
        .lazy()
        .filter(col("is_outlier").not())
        .group_by(cols(&["target", "session", "unit", "item"]))
        .agg([col("score").mean()]);
    let units =
        values.group_by(cols(&place)).agg([col("score").mean().alias("place"), col("score").std(1).alias("spread")]);
    let z = (col("score") - col("place")) / col("spread");
    let counts = col("is_outlier").not().and(col("spread").fill_null(lit(0.0)).gt(lit(0.0)));
    let rated = join(judged.lazy(), units, &place, JoinType::Left)
        .with_column(when(counts).then(z).otherwise(lit(NULL)).alias("z"))
        .collect()?;
    let sessions =
        rated.clone().lazy().filter(col("z").is_not_null()).group_by(cols(&item)).agg([count(col("z"), "of_session")]);
    let sessions = sessions.group_by(cols(&["target", "item"])).agg([count(col("of_session"), "n_sessions")]);
    let (offset, scale, floor) = (sources.number("offset")?, sources.number("scale")?, sources.number("floor")?);
    let scored = rated.lazy().group_by(cols(&["target", "item"])).agg([
        (lit(offset) + lit(scale) * col("z").mean()).alias("raw"),
        (lit(scale) * col("z").std(1)).alias("sd"),
        count(col("z"), "n"),
        (count(col("score"), "all") - count(col("z"), "n")).alias("n_skipped"),
    ]);
    let is_below = col("raw").lt(lit(floor)).fill_null(lit(false));
    Ok(join(scored, sessions, &["target", "item"], JoinType::Left)
        .with_columns([
            when(is_below.clone()).then(lit(floor)).otherwise(col("raw")).alias("mos"),
            is_below.alias("is_floored"),
            col("n_sessions").fill_null(lit(0)).cast(DataType::Int64),
        ])
        .collect()?)
}
