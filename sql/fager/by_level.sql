-- name: by_level
-- question: How factual is each run at each level?
-- grain: one level of one run
-- key: collection, run, model_revision, judge, level
-- output: table
SELECT
    collection,
    run,
    score_name AS level,
    exact_avg(score) AS score,
    count(*) AS n,
    model_revision,
    judge
FROM used_scores
WHERE score_name <> 'overall'
GROUP BY collection, run, model_revision, judge, score_name
ORDER BY collection, run, model_revision, judge, level
