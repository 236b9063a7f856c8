-- name: overlaps
-- question: How many image paths stand in two splits, or twice in one?
-- grain: one pair of splits
-- key: split, other_split
-- output: table
WITH across AS (
    SELECT '' AS split, 'test' AS other_split, count(*) AS n
    FROM (SELECT image FROM gold WHERE split = '') AS a
    JOIN (SELECT image FROM gold WHERE split = 'test') AS b ON a.image = b.image
    UNION ALL
    SELECT '' AS split, 'train' AS other_split, count(*) AS n
    FROM (SELECT image FROM gold WHERE split = '') AS a
    JOIN (SELECT image FROM gold WHERE split = 'train') AS b ON a.image = b.image
    UNION ALL
    SELECT 'test' AS split, 'train' AS other_split, count(*) AS n
    FROM (SELECT image FROM gold WHERE split = 'test') AS a
    JOIN (SELECT image FROM gold WHERE split = 'train') AS b ON a.image = b.image
),

within AS (
    SELECT split, split AS other_split, count(DISTINCT image) AS n
    FROM set_aside
    WHERE kind = 'labels' AND ($split = '' OR split = $split)
    GROUP BY split
),

pairs AS (
    SELECT split, other_split, n FROM across WHERE n > 0
    UNION ALL
    SELECT split, other_split, n FROM within
)

SELECT
    coalesce(nullif(split, ''), '(none)') AS split,
    coalesce(nullif(other_split, ''), '(none)') AS other_split,
    n
FROM pairs
ORDER BY split, other_split
