-- name: judges
-- question: Do boards of several judges stand in one table?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    CASE WHEN count(DISTINCT judge) > 1 THEN count(DISTINCT judge) ELSE 0 END AS n,
    '' AS detail
FROM entries
ORDER BY n
