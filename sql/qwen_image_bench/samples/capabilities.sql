-- name: capabilities
-- question: How good is each image at each capability?
-- grain: one capability of one image
-- key: scope, model, model_revision, judge, item, unit
-- output: sample
SELECT
    lang AS scope,
    model,
    model_revision,
    judge,
    concat(pillar, ' / ', capability) AS item,
    CAST(prompt_id AS TEXT) AS unit,
    score AS value
FROM capability_scores
WHERE score IS NOT NULL
