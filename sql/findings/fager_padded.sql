-- name: padded
-- question: How many answers count as unknown though they are not?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    coalesce(CAST(sum(padded) AS BIGINT), 0) AS n,
    coalesce(min(CASE WHEN padded > 0 THEN concat(collection, '/', run) END), '') AS detail
FROM ledger
WHERE level = 'all'
ORDER BY n
