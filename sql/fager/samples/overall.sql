-- name: overall
-- question: How factual is each image?
-- grain: one image
-- key: scope, model, model_revision, judge, unit
-- output: sample
SELECT
    collection AS scope,
    run AS model,
    model_revision,
    judge,
    '' AS item,
    CAST(prompt_index AS TEXT) AS unit,
    CASE WHEN $rounding = 'two_decimals' THEN python_round2(overall) ELSE overall END AS value
FROM image_scores
WHERE overall IS NOT NULL
