-- name: unscored
-- question: How many images have no overall score?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    count(CASE WHEN overall IS NULL THEN 1 END) AS n,
    coalesce(min(CASE WHEN overall IS NULL THEN concat(collection, '/', run, ' ', prompt_index) END), '') AS detail
FROM image_scores
ORDER BY n
