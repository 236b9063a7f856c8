-- name: unmatched
-- question: How many predictions are about images without usable labels?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    coalesce(CAST(sum(unexpected) AS BIGINT), 0) AS n,
    coalesce(min(CASE WHEN unexpected > 0 THEN assessor END), '') AS detail
FROM ledger
WHERE level = 'all'
ORDER BY n
