-- name: unmatched
-- question: How many predictions are about images without human scores?
-- grain: the lake
-- key: n
-- output: finding
SELECT coalesce(CAST(sum(unexpected) AS BIGINT), 0) AS n, coalesce(min(CASE WHEN unexpected > 0 THEN metric END), '') AS detail
FROM ledger
WHERE level = 'all'
ORDER BY n
