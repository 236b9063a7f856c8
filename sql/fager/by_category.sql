-- name: by_category
-- question: How factual is each run about each category?
-- grain: one category of one run
-- key: collection, run, model_revision, judge, category
-- output: table
WITH evaluated AS (
    SELECT
        a.collection,
        a.run,
        a.model_revision,
        a.judge,
        coalesce(nullif(a.category, ''), '(none)') AS category,
        CASE a.answer WHEN 'yes' THEN 2 WHEN 'unknown' THEN 1 ELSE 0 END AS halves
    FROM answers AS a
    JOIN gates AS g
        ON a.collection = g.collection AND a.run = g.run AND a.model_revision = g.model_revision AND a.judge = g.judge
        AND a.prompt_index = g.prompt_index
    WHERE
        ($invalid_answers = 'unknown' OR a.state = 'ok')
        AND g.is_gated IS NOT NULL AND (NOT g.is_gated OR a.level = 'level_1')
)

SELECT
    collection,
    run,
    category,
    CAST(sum(halves) AS DOUBLE) / 2.0 / CAST(count(*) AS DOUBLE) * 100.0 AS score,
    count(*) AS n,
    model_revision,
    judge
FROM evaluated
GROUP BY collection, run, model_revision, judge, category
ORDER BY collection, run, model_revision, judge, category
