-- name: pillars
-- question: How good is each image at each pillar?
-- grain: one pillar of one image
-- key: scope, model, model_revision, judge, item, unit
-- output: sample
SELECT
    lang AS scope,
    model,
    model_revision,
    judge,
    pillar AS item,
    CAST(prompt_id AS TEXT) AS unit,
    score AS value
FROM pillar_scores
WHERE score IS NOT NULL
