-- name: ab_accuracy
-- question: In how many pairs does each score tell the real image from the generated one?
-- grain: one tie rule of one score of one generated run
-- key: scope, model, model_revision, judge, item, statistic
-- output: sample
WITH pairs AS (
    SELECT
        *,
        concat(score_name, CASE WHEN reference_revision = '' THEN '' ELSE concat(' / ', reference_revision) END) AS item
    FROM ab_accuracy
)

SELECT
    collection AS scope, generated_run AS model, model_revision, judge, item, 'acc_full' AS statistic,
    correct + ties AS successes, pairs AS n, 1.0 AS scale
FROM pairs
UNION ALL
SELECT
    collection AS scope, generated_run AS model, model_revision, judge, item, 'acc_zero' AS statistic,
    correct AS successes, pairs AS n, 1.0 AS scale
FROM pairs
UNION ALL
SELECT
    collection AS scope, generated_run AS model, model_revision, judge, item, 'acc_skip' AS statistic,
    correct AS successes, pairs - ties AS n, 1.0 AS scale
FROM pairs
WHERE pairs > ties
