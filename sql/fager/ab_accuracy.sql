-- name: ab_accuracy
-- question: How often does each score tell the real image from a generated one?
-- grain: one score of one generated run against the reference run
-- key: collection, reference_run, reference_revision, generated_run, model_revision, judge, score_name
-- output: table
-- Pairs are joined by prompt index, within one judge; each revision of the reference run by itself. In official scores are compared as
-- rounded to two decimals, in strict unrounded. Ties count as correct (full), as wrong (zero) or not at all (skip).
WITH all_scores AS (
    SELECT collection, run, model_revision, judge, prompt_index, score_name, score, unrounded, FALSE AS lower_is_better
    FROM used_scores
    UNION ALL
    SELECT
        collection, run, '' AS model_revision, '' AS judge, prompt_index, metric AS score_name, score, score AS unrounded,
        lower_is_better
    FROM scores
    WHERE state = 'ok'
),

excluded AS (
    SELECT DISTINCT s.collection, s.prompt_index
    FROM all_scores AS s
    LEFT JOIN exclusions AS x ON s.collection = x.collection AND s.prompt_index = x.prompt_index
    WHERE
        $exclude = 'listed' AND x.prompt_index IS NOT NULL
        OR array_has(string_to_array(replace($exclude, ' ', ''), ','), CAST(s.prompt_index AS TEXT))
),

reference AS (
    SELECT * FROM all_scores WHERE run = $reference_run
),

pairs AS (
    SELECT
        g.collection,
        r.model_revision AS reference_revision,
        g.run AS generated_run,
        g.model_revision,
        g.judge,
        g.score_name,
        g.prompt_index,
        r.lower_is_better OR g.lower_is_better AS lower_is_better,
        r.score - g.score AS margin,
        CASE
            WHEN r.score = g.score THEN 0
            WHEN r.score > g.score THEN CASE WHEN r.lower_is_better OR g.lower_is_better THEN -1 ELSE 1 END
            ELSE CASE WHEN r.lower_is_better OR g.lower_is_better THEN 1 ELSE -1 END
        END AS sign,
        r.unrounded <> g.unrounded AS differs_unrounded,
        x.prompt_index IS NOT NULL AS is_excluded
    FROM all_scores AS g
    JOIN reference AS r
        ON g.collection = r.collection AND g.judge = r.judge AND g.score_name = r.score_name
        AND g.prompt_index = r.prompt_index
    LEFT JOIN excluded AS x ON g.collection = x.collection AND g.prompt_index = x.prompt_index
    WHERE g.run <> $reference_run
),

kept AS (
    SELECT * FROM pairs WHERE NOT is_excluded
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
    FROM pairs
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
