-- name: shares
-- question: What share of the images has each label?
-- grain: one label
-- key: scope, model, model_revision, judge, item, statistic
-- output: sample
SELECT
    '' AS scope, '' AS model, '' AS model_revision, '' AS judge, concat(s.level, ' / ', s.label) AS item,
    'share_of_images' AS statistic, s.n AS successes, t.n, 1.0 AS scale
FROM label_shares AS s
CROSS JOIN (SELECT coalesce(sum(n), 0) AS n FROM gold_patterns) AS t
WHERE t.n > 0
