-- name: gated
-- question: How many images are gated, so that their overall score is level 1 alone?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    count(CASE WHEN gated THEN 1 END) AS n,
    coalesce(min(CASE WHEN gated THEN concat(collection, '/', run, ' ', prompt_index) END), '') AS detail
FROM image_scores
ORDER BY n
