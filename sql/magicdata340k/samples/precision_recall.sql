-- name: precision_recall
-- question: Of how many images are precision, recall and accuracy of each label?
-- grain: one measure of one label of one assessor
-- key: scope, model, model_revision, judge, item, statistic
-- output: sample
WITH measures AS (
    SELECT assessor, model_revision, level, label, 'precision' AS statistic, tp AS successes, predicted AS n FROM detection
    UNION ALL
    SELECT assessor, model_revision, level, label, 'recall' AS statistic, tp AS successes, support AS n FROM detection
    UNION ALL
    SELECT assessor, model_revision, level, label, 'accuracy' AS statistic, n - fp - fn AS successes, n
    FROM detection
    WHERE level NOT IN ('micro', 'macro')
)

SELECT
    '' AS scope, assessor AS model, model_revision, '' AS judge, CASE WHEN level = label THEN label ELSE concat(level, ' / ', label) END AS item, statistic, successes, n,
    1.0 AS scale
FROM measures
WHERE n > 0
