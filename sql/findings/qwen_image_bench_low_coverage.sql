-- name: low_coverage
-- question: How many entries of the board cover less than 95 % of the prompts that have metadata, and which the least?
-- grain: the lake
-- key: n
-- output: finding
WITH low AS (
    SELECT model, lang, coverage
    FROM leaderboard
    WHERE coverage < 0.95
),

least AS (
    SELECT model, lang, coverage
    FROM low
    ORDER BY coverage, model, lang
    LIMIT 1
)

SELECT
    (SELECT count(*) FROM low) AS n,
    coalesce(max(concat(model, ' ', lang, ' with ', CAST(round(100.0 * coverage, 1) AS TEXT))), '') AS detail
FROM least
ORDER BY n
