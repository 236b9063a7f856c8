-- name: levels
-- question: How factual is each image at each level?
-- grain: one level of one image
-- key: scope, model, model_revision, judge, item, unit
-- output: sample
WITH scores AS (
    SELECT collection, run, model_revision, judge, prompt_index, 'level_1' AS item, level_1 AS score FROM image_scores
    UNION ALL
    SELECT collection, run, model_revision, judge, prompt_index, 'level_2' AS item, level_2 AS score FROM image_scores
    UNION ALL
    SELECT collection, run, model_revision, judge, prompt_index, 'level_3' AS item, level_3 AS score FROM image_scores
)

SELECT
    collection AS scope,
    run AS model,
    model_revision,
    judge,
    item,
    CAST(prompt_index AS TEXT) AS unit,
    CASE WHEN $rounding = 'two_decimals' THEN python_round2(score) ELSE score END AS value
FROM scores
WHERE score IS NOT NULL
