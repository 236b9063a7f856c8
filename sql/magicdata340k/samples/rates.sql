-- name: rates
-- question: What share of each generator's images has artifacts?
-- grain: one generator
-- key: scope, model, model_revision, judge, item, statistic
-- output: sample
SELECT
    '' AS scope, generator AS model, '' AS model_revision, '' AS judge, '' AS item, 'rate' AS statistic,
    artifacts AS successes, n, 1.0 AS scale
FROM artifact_rates
