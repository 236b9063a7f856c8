-- name: readings_differ
-- question: In how many judged entries do the official and the strict reading count differently?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    count(CASE WHEN coalesce(CASE WHEN in_rubric THEN value END, -1) <> coalesce(value_official, -1) THEN 1 END) AS n,
    CAST(count(*) AS TEXT) AS detail
FROM judgments
ORDER BY n
