-- name: complete
-- question: How good is each image whose every active pillar has a score?
-- grain: one image
-- key: scope, model, model_revision, judge, unit
-- output: sample
SELECT
    lang AS scope,
    model,
    model_revision,
    judge,
    'only complete prompts' AS item,
    CAST(prompt_id AS TEXT) AS unit,
    overall AS value
FROM prompt_scores
WHERE overall IS NOT NULL AND complete
