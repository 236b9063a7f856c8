-- name: unusable
-- question: How many predictions are not usable under the reading?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    coalesce(CAST(sum(CASE WHEN reading.outcome <> 'ok' THEN reading.n ELSE 0 END) AS BIGINT), 0) AS n,
    CAST(coalesce(sum(reading.n), 0) AS VARCHAR) AS detail
FROM (
    SELECT n, CASE WHEN $reading = 'exact' THEN exact_outcome ELSE keywords_outcome END AS outcome
    FROM outcome_patterns
    WHERE exact_outcome <> 'missing'
) AS reading
ORDER BY n
