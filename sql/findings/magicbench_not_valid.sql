-- name: not_valid
-- question: How many records with a prompt do not count, and for what reason most?
-- grain: the lake
-- key: n
-- output: finding
WITH reasons AS (
    SELECT coalesce(reason, outcome) AS reason, count(*) AS n
    FROM assessments
    WHERE prompt <> '' AND outcome <> 'ok'
    GROUP BY coalesce(reason, outcome)
),

most AS (
    SELECT reason, n
    FROM reasons
    ORDER BY n DESC, reason
    LIMIT 1
)

SELECT
    coalesce((SELECT CAST(sum(n) AS BIGINT) FROM reasons), 0) AS n,
    coalesce(max(concat(reason, ' (', n, ')')), '') AS detail
FROM most
ORDER BY n
