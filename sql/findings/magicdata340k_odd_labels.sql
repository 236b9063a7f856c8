-- name: odd_labels
-- question: How many labels of people are not as the taxonomy has them?
-- grain: the lake
-- key: n
-- output: finding
WITH odd AS (
    SELECT state, count(*) AS n
    FROM labels
    WHERE state <> 'ok' AND ($split = '' OR split = $split)
    GROUP BY state
)

SELECT
    coalesce(CAST(sum(n) AS BIGINT), 0) AS n,
    coalesce(string_agg(concat(state, ' ', n), ', ' ORDER BY state), '') AS detail
FROM odd
ORDER BY n
