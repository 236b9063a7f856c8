-- name: unexpected
-- question: How many answers are to questions that are none of the collection's, and how many questions have no answer?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    coalesce(CAST(sum(unexpected + missing) AS BIGINT), 0) AS n,
    concat(coalesce(sum(unexpected), 0), ' unexpected, ', coalesce(sum(missing), 0), ' missing') AS detail
FROM ledger
WHERE level = 'all'
ORDER BY n
