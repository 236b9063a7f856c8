-- name: directions
-- question: Of which metrics do two files say different directions?
-- grain: the lake
-- key: n
-- output: finding
WITH both_ways AS (
    SELECT metric
    FROM predictions
    GROUP BY metric
    HAVING bool_or(lower_is_better) AND bool_or(NOT lower_is_better)
)

SELECT count(*) AS n, coalesce(string_agg(metric, ', ' ORDER BY metric), '') AS detail
FROM both_ways
ORDER BY n
