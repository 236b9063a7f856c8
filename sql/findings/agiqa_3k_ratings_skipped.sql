-- name: ratings_skipped
-- question: How many ratings are left out, and why?
-- grain: the lake
-- key: n
-- output: finding
WITH reasons AS (
    SELECT state, count(*) AS n
    FROM rated
    WHERE state <> 'ok'
    GROUP BY state
)

SELECT
    coalesce(CAST(sum(n) AS BIGINT), 0) AS n,
    coalesce(string_agg(concat(state, ' ', n), ', ' ORDER BY state), '') AS detail
FROM reasons
ORDER BY n
