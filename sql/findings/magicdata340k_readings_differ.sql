-- name: readings_differ
-- question: In how many predictions do the exact and the keyword reading differ?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    coalesce(CAST(sum(
        CASE
            WHEN (exact_outcome = 'ok') <> (keywords_outcome = 'ok') THEN n
            WHEN coalesce(exact_mask, -1) <> coalesce(keywords_mask, -1) THEN n
            ELSE 0
        END
    ) AS BIGINT), 0) AS n,
    CAST(coalesce(sum(n), 0) AS VARCHAR) AS detail
FROM outcome_patterns
ORDER BY n
