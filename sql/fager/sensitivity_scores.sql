-- name: sensitivity_scores
-- question: How often would each score tell the real image from a generated one by other rules of ties?
-- grain: one rule for one score of one generated run
-- key: rule, scope, model, model_revision, judge
-- output: memory
-- A threshold makes pairs ties whose margin is at most that share of the score's range in the collection.
WITH all_scores AS (
    SELECT collection, run, model_revision, judge, prompt_index, score_name, score, FALSE AS lower_is_better
    FROM used_scores
    UNION ALL
    SELECT collection, run, '' AS model_revision, '' AS judge, prompt_index, metric AS score_name, score, lower_is_better
    FROM scores
    WHERE state = 'ok'
),

ranges AS (
    SELECT collection, score_name, max(score) - min(score) AS width
    FROM all_scores
    GROUP BY collection, score_name
),

excluded AS (
    SELECT DISTINCT s.collection, s.prompt_index
    FROM all_scores AS s
    LEFT JOIN exclusions AS x ON s.collection = x.collection AND s.prompt_index = x.prompt_index
    WHERE
        $exclude = 'listed' AND x.prompt_index IS NOT NULL
        OR array_has(string_to_array(replace($exclude, ' ', ''), ','), CAST(s.prompt_index AS TEXT))
),

margins AS (
    SELECT
        concat(
            g.collection, ' / ', g.run, CASE WHEN r.model_revision = '' THEN '' ELSE concat(' / ', r.model_revision) END
        ) AS scope,
        g.score_name AS model,
        g.model_revision,
        g.judge,
        CASE WHEN r.lower_is_better OR g.lower_is_better THEN g.score - r.score ELSE r.score - g.score END AS margin,
        w.width
    FROM all_scores AS g
    JOIN all_scores AS r
        ON g.collection = r.collection AND g.judge = r.judge AND g.score_name = r.score_name
        AND g.prompt_index = r.prompt_index
    JOIN ranges AS w ON g.collection = w.collection AND g.score_name = w.score_name
    LEFT ANTI JOIN excluded AS x ON g.collection = x.collection AND g.prompt_index = x.prompt_index
    WHERE r.run = $reference_run AND g.run <> $reference_run
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
