-- name: low_coverage
-- question: How many boards cover less than 95 % of the prompts that have metadata, and what is the least?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    count(CASE WHEN coverage < 0.95 THEN 1 END) AS n,
    coalesce(CAST(round(100.0 * min(coverage), 1) AS TEXT), '') AS detail
FROM leaderboard
ORDER BY n
