//! Qwen-Image-Bench by Polars: facets → capabilities → pillars → overall per image, then means over prompts.

use polars::prelude::{DataFrame, DataType, Expr, IntoLazy, JoinType, LazyFrame, NULL, col, len, lit, when};

use super::{Sources, cols, count, display_names, join, rank};
use crate::error::{Error, ErrorKind, Result};

pub(super) use crate::ingest::qwen_image_bench::DATASET;

const ENTRY: [&str; 4] = ["model", "model_revision", "judge", "lang"];

/// The result tables that Polars computes.
pub(super) fn tables(sources: &Sources<'_>) -> Result<Vec<(&'static str, DataFrame)>> {
    let cells = scored_cells(sources)?.collect()?.lazy();
    let capability_scores =
        cells.clone().group_by(by(&["prompt_id", "pillar", "capability"])).agg([col("score").mean()]).collect()?.lazy();
    let pillar_scores =
        capability_scores.clone().group_by(by(&["prompt_id", "pillar"])).agg([col("score").mean()]).collect()?.lazy();
    let prompt_scores = prompt_scores(sources, pillar_scores.clone())?;
    let by_facet = means(cells, &["pillar", "capability", "facet"])?;
    let by_capability = means(capability_scores, &["pillar", "capability"])?;
    let by_pillar = means(pillar_scores, &["pillar"])?;
    let leaderboard = leaderboard(sources, &prompt_scores, &by_pillar)?;
    Ok(vec![
        ("leaderboard", leaderboard),
        ("by_pillar", by_pillar),
        ("by_capability", by_capability),
        ("by_facet", by_facet),
        ("prompt_scores", prompt_scores),
    ])
}

/// The columns of an entry of the board, and further ones.
fn by(further: &[&str]) -> Vec<Expr> {
    ENTRY.iter().chain(further).map(|name| col(*name)).collect()
}

fn means(scores: LazyFrame, item: &[&str]) -> Result<DataFrame> {
    Ok(scores.group_by(by(item)).agg([col("score").mean(), count(col("score"), "n")]).collect()?)
}

/// One row a cell that counts, with its points.
fn scored_cells(sources: &Sources<'_>) -> Result<LazyFrame> {
    const PLACE: [&str; 5] = ["source", "source_line", "model", "lang", "pillar"];
    let (suffix, may_score) = match sources.plan.protocol.as_str() {
        "official" => ("_official", lit(true)),
        "strict" => ("", col("in_rubric")),
        other => {
            return Err(Error::new(ErrorKind::Usage, format!("Polars does not know the protocol `{other}`")));
        }
    };
    let read: Vec<String> = ["capability", "facet", "value", "state"].map(|name| format!("{name}{suffix}")).into();
    let read =
        read.iter().map(String::as_str).chain(["in_rubric", "prompt_id", "model_revision", "judge"]).chain(PLACE);
    let judgments = sources.scan("judgments", &read.collect::<Vec<_>>())?;
    let judgments = join(judgments, sources.scan("set_aside", &PLACE)?, &PLACE, JoinType::Anti);
    let mut columns = by(&["prompt_id", "pillar"]);
    columns.extend(["capability", "facet", "value"].map(|name| col(format!("{name}{suffix}")).alias(name)));
    let points = |value: i32| -> Result<Expr> { Ok(lit(sources.number(&format!("score_map_{value}"))?)) };
    let score = when(col("value").eq(lit(0)))
        .then(points(0)?)
        .when(col("value").eq(lit(1)))
        .then(points(1)?)
        .when(col("value").eq(lit(2)))
        .then(points(2)?)
        .otherwise(lit(NULL));
    let counts = col(format!("state{suffix}")).eq(lit("ok")).and(may_score);
    let cells = judgments.filter(counts).select(columns).with_column(score.alias("score"));
    match sources.text("facets")? {
        "judged" => Ok(cells),
        "metadata" => {
            let place = ["prompt_id", "pillar", "capability", "facet"];
            Ok(join(cells, sources.scan("prompt_facets", &place)?, &place, JoinType::Semi))
        }
        other => Err(Error::new(ErrorKind::Usage, format!("Polars does not know facets = `{other}`"))),
    }
}

/// Prompts with metadata.
fn known_prompts(sources: &Sources<'_>) -> Result<LazyFrame> {
    let prompts = sources.scan("prompts", &["prompt_id", "has_metadata"])?.filter(col("has_metadata"));
    Ok(prompts.group_by(cols(&["prompt_id"])).agg([len()]).select([col("prompt_id"), lit(true).alias("is_known")]))
}

fn prompt_scores(sources: &Sources<'_>, pillar_scores: LazyFrame) -> Result<DataFrame> {
    let active =
        sources.scan("prompt_facets", &["prompt_id", "pillar"])?.group_by(cols(&["prompt_id", "pillar"])).agg([len()]);
    let active = active
        .select([col("prompt_id"), col("pillar"), lit(1).cast(DataType::Int64).alias("is_active")])
        .collect()?
        .lazy();
    let n_active = active.clone().group_by(cols(&["prompt_id"])).agg([col("is_active").sum().alias("n_asked")]);
    let scores =
        join(pillar_scores, active, &["prompt_id", "pillar"], JoinType::Left).group_by(by(&["prompt_id"])).agg([
            col("score").mean().alias("overall"),
            count(col("score"), "n_pillars"),
            col("is_active").sum().alias("n_active_scored"),
        ]);
    let scores = join(scores, known_prompts(sources)?, &["prompt_id"], JoinType::Left);
    let scores = join(scores, n_active, &["prompt_id"], JoinType::Left);
    let asked = col("n_asked").fill_null(lit(0)).cast(DataType::Int64);
    let where_known = |value: Expr| when(col("is_known").is_not_null()).then(value).otherwise(lit(NULL));
    let columns =
        [where_known(asked.clone()).alias("n_active"), where_known(col("n_active_scored").eq(asked)).alias("complete")];
    Ok(scores.with_columns(columns).collect()?)
}

fn leaderboard(sources: &Sources<'_>, prompt_scores: &DataFrame, by_pillar: &DataFrame) -> Result<DataFrame> {
    let n_expected = known_prompts(sources)?.collect()?.height() as i64;
    let expected = if n_expected > 0 { lit(n_expected) } else { lit(NULL) }.cast(DataType::Int64);
    let entries = sources.scan("responses", &ENTRY)?.group_by(by(&[])).agg([len()]).select(by(&[]));
    let totals = prompt_scores.clone().lazy().group_by(by(&[])).agg([
        col("overall").mean(),
        count(col("overall"), "n"),
        count(col("overall").filter(col("n_active").is_not_null()), "n_covered"),
        count(col("overall").filter(col("complete")), "n_complete"),
    ]);
    let mut board = join(entries, totals, &ENTRY, JoinType::Left);
    for (pillar, name) in [
        ("Quality", "quality"),
        ("Aesthetics", "aesthetics"),
        ("Alignment", "alignment"),
        ("Creative Generation", "creative_generation"),
        ("Real-world Fidelity", "real_world_fidelity"),
    ] {
        let mut columns = by(&[]);
        columns.push(col("score").alias(name));
        let scores = by_pillar.clone().lazy().filter(col("pillar").eq(lit(pillar))).select(columns);
        board = join(board, scores, &ENTRY, JoinType::Left);
    }
    let board = join(board, display_names(sources)?, &["model"], JoinType::Left);
    let zero = |name: &str| col(name).fill_null(lit(0)).cast(DataType::Int64);
    let board = board
        .with_columns([
            col("display_name").fill_null(col("model")),
            zero("n"),
            expected.clone().alias("n_expected"),
            when(expected.clone().is_not_null()).then(zero("n_complete")).otherwise(lit(NULL)),
            (zero("n_covered").cast(DataType::Float64) / expected.cast(DataType::Float64)).alias("coverage"),
        ])
        .collect()?
        .lazy();
    let is_ranked = col("coverage").fill_null(lit(1.0)).gt_eq(lit(sources.number("min_coverage")?));
    Ok(board.with_column(rank(is_ranked, &["lang", "judge"])?).collect()?)
}
