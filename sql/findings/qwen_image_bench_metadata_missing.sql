-- name: metadata_missing
-- question: Is there no metadata at all?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    CAST(CASE WHEN count(*) = 0 THEN 1 ELSE 0 END AS BIGINT) AS n,
    '' AS detail
FROM prompts
WHERE has_metadata
ORDER BY n
