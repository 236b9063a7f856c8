-- name: low_coverage
-- question: How many models cover less than 95 % of the benchmark's prompts, and which the least?
-- grain: the lake
-- key: n
-- output: finding
WITH low AS (
    SELECT model, coverage
    FROM leaderboard
    WHERE coverage < 0.95
),

least AS (
    SELECT model, coverage
    FROM low
    ORDER BY coverage, model
    LIMIT 1
)

SELECT
    (SELECT count(*) FROM low) AS n,
    coalesce(max(concat(model, ' with ', CAST(round(100.0 * coverage, 1) AS TEXT))), '') AS detail
FROM least
ORDER BY n
