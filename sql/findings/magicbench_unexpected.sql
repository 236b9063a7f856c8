-- name: unexpected
-- question: Which records are about prompts that are none of the benchmark's?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    coalesce(CAST(sum(unexpected) AS BIGINT), 0) AS n,
    coalesce(min(CASE WHEN unexpected > 0 THEN model END), '') AS detail
FROM ledger
WHERE level = 'all'
ORDER BY n
