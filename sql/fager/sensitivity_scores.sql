-- name: sensitivity_scores
-- question: How often would each score tell the real image from a generated one by other rules of ties?
-- grain: one rule for one score of one generated run
-- key: rule, scope, model, model_revision, judge
-- output: memory
-- A threshold makes pairs ties whose margin is at most that share of the score's range in the collection.
WITH pairs AS (
    SELECT *
    FROM ab_pairs
    WHERE NOT is_excluded
),

ranges AS (
    SELECT
        collection,
        score_name,
        max(greatest(reference_score, generated_score)) - min(least(reference_score, generated_score)) AS width
    FROM pairs
    GROUP BY collection, score_name
),

margins AS (
    SELECT
        concat_ws(' / ', p.collection, p.generated_run, nullif(p.reference_revision, '')) AS scope,
        p.score_name AS model,
        p.model_revision,
        p.judge,
        CASE WHEN p.lower_is_better THEN -p.margin ELSE p.margin END AS margin,
        w.width
    FROM pairs AS p
    JOIN ranges AS w ON p.collection = w.collection AND p.score_name = w.score_name
),

thresholds AS (
    SELECT 0.0 AS share, 'ties' AS name
    UNION ALL
    SELECT 0.01 AS share, 'margins up to 1 % of the range' AS name
    UNION ALL
    SELECT 0.05 AS share, 'margins up to 5 % of the range' AS name
),

counts AS (
    SELECT
        t.name,
        m.scope,
        m.model,
        m.model_revision,
        m.judge,
        count(*) AS pairs,
        count(CASE WHEN m.margin > t.share * m.width THEN 1 END) AS correct,
        count(CASE WHEN abs(m.margin) <= t.share * m.width THEN 1 END) AS ties
    FROM margins AS m
    CROSS JOIN thresholds AS t
    GROUP BY t.name, m.scope, m.model, m.model_revision, m.judge
)

SELECT
    concat(name, ' are correct') AS rule, scope, model, model_revision, judge,
    CAST(correct + ties AS DOUBLE) / pairs AS score, pairs AS n
FROM counts
UNION ALL
SELECT
    concat(name, ' are wrong') AS rule, scope, model, model_revision, judge,
    CAST(correct AS DOUBLE) / pairs AS score, pairs AS n
FROM counts
UNION ALL
SELECT
    concat(name, ' are left out') AS rule, scope, model, model_revision, judge,
    CAST(correct AS DOUBLE) / nullif(pairs - ties, 0) AS score, pairs - ties AS n
FROM counts
