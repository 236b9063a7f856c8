-- name: leaderboard
-- question: How factual are the images of each run?
-- grain: one run
-- key: collection, run, model_revision, judge
-- output: table
WITH totals AS (
    SELECT collection, run, model_revision, judge, exact_avg(score) AS overall, exact_avg(unrounded) AS overall_unrounded, count(*) AS n
    FROM used_scores
    WHERE score_name = 'overall'
    GROUP BY collection, run, model_revision, judge
),

decisions AS (
    SELECT
        collection, run, model_revision, judge,
        count(CASE WHEN decision = 'keep' THEN 1 END) AS n_keep,
        count(CASE WHEN decision = 'edit' THEN 1 END) AS n_edit,
        count(CASE WHEN decision = 'regenerate' THEN 1 END) AS n_regenerate
    FROM image_scores
    GROUP BY collection, run, model_revision, judge
),

asked AS (
    SELECT DISTINCT collection, prompt_index
    FROM questions
),

expected AS (
    SELECT collection, count(*) AS n_expected
    FROM asked
    GROUP BY collection
),

covered AS (
    SELECT s.collection, s.run, s.model_revision, s.judge, count(*) AS n
    FROM used_scores AS s
    JOIN asked AS a ON s.collection = a.collection AND s.prompt_index = a.prompt_index
    WHERE s.score_name = 'overall'
    GROUP BY s.collection, s.run, s.model_revision, s.judge
)

SELECT
    d.collection,
    d.run,
    t.overall,
    t.overall_unrounded,
    coalesce(t.n, 0) AS n,
    d.n_keep,
    d.n_edit,
    d.n_regenerate,
    e.n_expected,
    CAST(coalesce(c.n, 0) AS DOUBLE) / e.n_expected AS coverage,
    d.model_revision,
    d.judge
FROM decisions AS d
LEFT JOIN totals AS t
    ON d.collection = t.collection AND d.run = t.run AND d.model_revision = t.model_revision AND d.judge = t.judge
LEFT JOIN covered AS c
    ON d.collection = c.collection AND d.run = c.run AND d.model_revision = c.model_revision AND d.judge = c.judge
LEFT JOIN expected AS e ON d.collection = e.collection
ORDER BY d.collection, d.run, d.model_revision, d.judge
