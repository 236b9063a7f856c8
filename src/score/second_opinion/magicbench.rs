//! MagicBench by Polars: flags of records, counted by model and by detail class.

use polars::prelude::{DataFrame, DataType, Expr, IntoLazy, JoinType, LazyFrame, NULL, col, len, lit, when};

use super::{Sources, cols, count, display_names, join, rank};
use crate::error::Result;

pub(super) use crate::ingest::magicbench::DATASET;

const ENTRY: [&str; 3] = ["model", "model_revision", "judge"];
const CLASSES: [&str; 3] = ["human", "animal", "object"];

/// The result tables that Polars computes.
pub(super) fn tables(sources: &Sources<'_>) -> Result<Vec<(&'static str, DataFrame)>> {
    let wanted = [
        "model",
        "model_revision",
        "judge",
        "prompt",
        "class",
        "detail_class",
        "has_subject",
        "outcome",
        "is_artifact",
        "interaction",
        "human",
        "animal",
        "object",
    ];
    let all = sources.counting("assessments", &wanted, "assessment", &[])?.select(cols(&wanted)).collect()?;
    let entries = all.clone().lazy().group_by(cols(&ENTRY)).agg([len()]).select(cols(&ENTRY)).collect()?;
    let records = records(sources, all.lazy())?;
    Ok(vec![
        ("leaderboard", leaderboard(sources, &entries, &records)?),
        ("by_detail_class", by_detail_class(sources, &entries, &records)?),
    ])
}

/// Prompts of the benchmark, one row each.
fn prompts(sources: &Sources<'_>) -> Result<LazyFrame> {
    let prompts = sources.scan("prompts", &["prompt", "detail_class"])?;
    Ok(prompts.group_by(cols(&["prompt"])).agg([col("detail_class").max().alias("asked_detail")]))
}

fn records(sources: &Sources<'_>, all: LazyFrame) -> Result<DataFrame> {
    let known = prompts(sources)?.with_column(lit(true).alias("is_known"));
    let joined = join(all.filter(col("prompt").neq(lit(""))), known, &["prompt"], JoinType::Left);
    let flags_without_subject = sources.text("flags_of")? == "valid_or_no_subject";
    let has_subject = col("has_subject").fill_null(lit(true));
    let is_valid = col("outcome").eq(lit("ok"));
    let may_flag = is_valid.clone().or(has_subject.clone().not().and(lit(flags_without_subject)));
    let flag = |name: &str, without: Expr| {
        when(has_subject.clone())
            .then(col(name).fill_null(lit(false)))
            .otherwise(without)
            .and(may_flag.clone())
            .alias(name)
    };
    let of_class = |name: &str| flag(name, col("class").eq(lit(name.to_owned())).fill_null(lit(false)));
    Ok(joined
        .with_columns([
            flag("is_artifact", lit(true)),
            flag("interaction", lit(false)),
            of_class("human"),
            of_class("animal"),
            of_class("object"),
            col("detail_class").fill_null(lit("(none)")),
            is_valid.alias("is_valid"),
        ])
        .collect()?)
}

/// How many rows hold something.
fn number_of(condition: Expr, name: &str) -> Expr {
    count(when(condition).then(lit(1)).otherwise(lit(NULL)), name)
}

fn leaderboard(sources: &Sources<'_>, entries: &DataFrame, records: &DataFrame) -> Result<DataFrame> {
    let valid = || col("is_valid");
    let mut sums = vec![
        count(col("prompt"), "n"),
        number_of(valid(), "n_valid"),
        number_of(valid().and(col("is_known").is_not_null()), "n_covered"),
        number_of(col("is_artifact"), "with_artifact"),
        number_of(col("interaction"), "with_interaction"),
    ];
    for class in CLASSES {
        let is_class = || col("class").eq(lit(class));
        sums.push(number_of(valid().and(is_class()), &format!("n_{class}")));
        sums.push(number_of(col(class), &format!("with_{class}")));
        sums.push(number_of(col(class).and(is_class()), &format!("own_{class}")));
    }
    let names = ["n", "n_valid", "n_covered", "with_artifact", "with_interaction"].map(String::from).into_iter();
    let of_classes = CLASSES.iter().flat_map(|class| ["n", "with", "own"].map(|part| format!("{part}_{class}")));
    let zeros: Vec<Expr> =
        names.chain(of_classes).map(|name| col(name).fill_null(lit(0)).cast(DataType::Int64)).collect();
    let counts = records.clone().lazy().group_by(cols(&ENTRY)).agg(sums);
    let board = join(entries.clone().lazy(), counts, &ENTRY, JoinType::Left).with_columns(zeros);
    let is_nominal = sources.text("denominators")? == "nominal";
    let own = if sources.text("class_flags")? == "own" { "own" } else { "with" };
    // A class is there if it has a valid record or, in nominal, a flag of its own on one without subject.
    let score = |flags: String, class: [&str; 3], name: &str| -> Result<Expr> {
        let [n, own_flags, nominal] = class;
        let is_there = col(n).gt(lit(0)).or(lit(is_nominal).and(col(own_flags).gt(lit(0))));
        let of = if is_nominal { lit(sources.number(nominal)?) } else { col(n).cast(DataType::Float64) };
        let share = (of.clone() - col(flags).cast(DataType::Float64)) / of * lit(100.0);
        Ok(when(is_there).then(share).otherwise(lit(NULL)).alias(name))
    };
    let all = ["n_valid", "with_artifact", "nominal_all"];
    let mut scores =
        vec![score("with_interaction".into(), all, "interaction")?, score("with_artifact".into(), all, "overall")?];
    for class in CLASSES {
        let [n, own_flags, nominal] = ["n", "own", "nominal"].map(|part| format!("{part}_{class}"));
        let of_class = [n.as_str(), own_flags.as_str(), nominal.as_str()];
        scores.push(score(format!("{own}_{class}"), of_class, class)?);
        scores.push(score(own_flags.clone(), of_class, &format!("{class}_own"))?);
    }
    let n_expected = prompts(sources)?.collect()?.height() as i64;
    let expected = if n_expected > 0 { lit(n_expected) } else { lit(NULL) }.cast(DataType::Int64);
    let coverage = col("n_covered").cast(DataType::Float64) / expected.clone().cast(DataType::Float64);
    let board = join(board.with_columns(scores), display_names(sources)?, &["model"], JoinType::Left).with_columns([
        col("display_name").fill_null(col("model")),
        expected.alias("n_expected"),
        coverage.alias("coverage"),
    ]);
    let is_ranked = col("coverage").fill_null(lit(1.0)).gt_eq(lit(sources.number("min_coverage")?));
    Ok(board.collect()?.lazy().with_column(rank(is_ranked, &["judge"])?).collect()?)
}

fn by_detail_class(sources: &Sources<'_>, entries: &DataFrame, records: &DataFrame) -> Result<DataFrame> {
    const KEY: [&str; 4] = ["model", "model_revision", "judge", "detail_class"];
    let own = CLASSES.iter().map(|class| col("class").eq(lit(*class)).and(col(*class)).fill_null(lit(false)));
    let is_deformed = own.reduce(Expr::or).unwrap_or_else(|| lit(false));
    let counts = records.clone().lazy().group_by(cols(&KEY)).agg([
        count(col("prompt"), "n_records"),
        number_of(col("is_valid"), "n_valid"),
        number_of(is_deformed, "deformed"),
    ]);
    let asked = prompts(sources)?.filter(col("asked_detail").is_not_null());
    let asked = asked.group_by([col("asked_detail").alias("detail_class")]).agg([len()]);
    // Every model with every detail class: a join on a column that is the same for all.
    let one = |frame: LazyFrame| frame.with_column(lit(1).alias("one"));
    let every = join(one(entries.clone().lazy()), one(asked), &["one"], JoinType::Inner).select(cols(&KEY));
    let here = counts.clone().select(cols(&KEY));
    let keys = polars::prelude::concat([every, here], Default::default())?
        .group_by(cols(&KEY))
        .agg([len()])
        .select(cols(&KEY));
    let zero = |name: &str| col(name).fill_null(lit(0)).cast(DataType::Int64);
    let counts =
        join(keys, counts, &KEY, JoinType::Left).with_columns([zero("n_records"), zero("n_valid"), zero("deformed")]);
    let is_nominal = lit(sources.text("denominators")? == "nominal").and(col("detail_class").neq(lit("(none)")));
    let is_there = col("n_valid").gt(lit(0)).or(col("deformed").gt(lit(0)));
    let nominal = lit(sources.number("nominal_detail")?).cast(DataType::Int64);
    let n = when(is_nominal.and(is_there)).then(nominal).otherwise(col("n_valid"));
    let share = (n.clone() - col("deformed")).cast(DataType::Float64) / n.clone().cast(DataType::Float64) * lit(100.0);
    let score = when(n.clone().gt(lit(0))).then(share).otherwise(lit(NULL));
    Ok(counts.with_columns([n.alias("n"), score.alias("score")]).collect()?)
}
