-- name: scores_in_range
-- question: Does every score lie within 0 and 100, and does every comparison add up?
-- grain: one that does not
-- key: place, item
-- output: check
WITH faults AS (
    SELECT 'image_scores' AS place, concat(collection, ' ', run, ' ', prompt_index) AS item
    FROM image_scores
    WHERE
        overall < 0.0 OR overall > 100.0 OR level_1 < 0.0 OR level_1 > 100.0 OR level_2 < 0.0 OR level_2 > 100.0
        OR level_3 < 0.0 OR level_3 > 100.0 OR n <> n_yes + n_no + n_unknown
    UNION ALL
    SELECT 'ab_accuracy' AS place, concat(collection, ' ', generated_run, ' ', score_name) AS item
    FROM ab_accuracy
    WHERE pairs <> correct + ties + wrong
)

SELECT place, item
FROM faults
ORDER BY place, item
