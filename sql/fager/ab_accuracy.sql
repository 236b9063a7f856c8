-- name: ab_accuracy
-- question: How often does each score tell the real image from a generated one?
-- grain: one score of one generated run against the reference run
-- key: collection, reference_run, reference_revision, generated_run, model_revision, judge, score_name
-- output: table
-- Ties count as correct (full), as wrong (zero) or not at all (skip).
WITH kept AS (
    SELECT * FROM ab_pairs WHERE NOT is_excluded
),

counts AS (
    SELECT
        collection,
        reference_revision,
        generated_run,
        model_revision,
        judge,
        score_name,
        bool_or(lower_is_better) AS lower_is_better,
        count(*) AS pairs,
        count(CASE WHEN sign = 1 THEN 1 END) AS correct,
        count(CASE WHEN sign = 0 THEN 1 END) AS ties,
        count(CASE WHEN sign = -1 THEN 1 END) AS wrong,
        count(CASE WHEN sign = 0 AND differs_unrounded THEN 1 END) AS ties_by_rounding,
        exact_avg(margin) AS margin_mean,
        coalesce(string_agg(CASE WHEN sign = -1 THEN CAST(prompt_index AS TEXT) END, ',' ORDER BY prompt_index), '') AS wrong_indices
    FROM kept
    GROUP BY collection, reference_revision, generated_run, model_revision, judge, score_name
),

spreads AS (
    SELECT
        k.collection,
        k.reference_revision,
        k.generated_run,
        k.model_revision,
        k.judge,
        k.score_name,
        exact_avg((k.margin - c.margin_mean) * (k.margin - c.margin_mean)) AS variance
    FROM kept AS k
    JOIN counts AS c
        ON k.collection = c.collection AND k.reference_revision = c.reference_revision
        AND k.generated_run = c.generated_run AND k.model_revision = c.model_revision
        AND k.judge = c.judge AND k.score_name = c.score_name
    GROUP BY k.collection, k.reference_revision, k.generated_run, k.model_revision, k.judge, k.score_name
),

left_out AS (
    SELECT collection, reference_revision, generated_run, model_revision, judge, score_name, count(*) AS n
    FROM ab_pairs
    WHERE is_excluded
    GROUP BY collection, reference_revision, generated_run, model_revision, judge, score_name
)

SELECT
    c.collection,
    $reference_run AS reference_run,
    c.generated_run,
    c.score_name,
    c.pairs,
    c.correct,
    c.ties,
    c.wrong,
    CAST(c.correct + c.ties AS DOUBLE) / c.pairs AS acc_full,
    CAST(c.correct AS DOUBLE) / c.pairs AS acc_zero,
    CAST(c.correct AS DOUBLE) / nullif(c.pairs - c.ties, 0) AS acc_skip,
    c.ties_by_rounding,
    c.margin_mean,
    sqrt(s.variance) AS margin_sd,
    CASE WHEN c.lower_is_better THEN 'lower is better' ELSE 'higher is better' END AS direction,
    c.wrong_indices,
    coalesce(x.n, 0) AS n_excluded,
    c.reference_revision,
    c.model_revision,
    c.judge
FROM counts AS c
JOIN spreads AS s
    ON c.collection = s.collection AND c.reference_revision = s.reference_revision
    AND c.generated_run = s.generated_run AND c.model_revision = s.model_revision
    AND c.judge = s.judge AND c.score_name = s.score_name
LEFT JOIN left_out AS x
    ON c.collection = x.collection AND c.reference_revision = x.reference_revision
    AND c.generated_run = x.generated_run AND c.model_revision = x.model_revision
    AND c.judge = x.judge AND c.score_name = x.score_name
ORDER BY c.collection, reference_run, c.reference_revision, c.generated_run, c.model_revision, c.judge, c.score_name
