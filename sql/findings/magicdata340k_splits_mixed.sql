-- name: splits_mixed
-- question: Are two splits scored together?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    CASE WHEN count(*) > 1 THEN count(*) ELSE 0 END AS n,
    coalesce(string_agg(coalesce(nullif(split, ''), '(none)'), ', ' ORDER BY split), '') AS detail
FROM (SELECT DISTINCT split FROM gold_patterns) AS splits
ORDER BY n
