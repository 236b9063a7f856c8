-- name: overlap
-- question: How many image paths stand in two splits?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    coalesce(CAST(sum(n) AS BIGINT), 0) AS n,
    coalesce(string_agg(concat(split, ' and ', other_split), '; ' ORDER BY split, other_split), '') AS detail
FROM overlaps
WHERE split <> other_split
ORDER BY n
