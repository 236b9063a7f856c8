-- name: facets
-- question: How good is each image at each facet?
-- grain: one facet of one image
-- key: scope, model, model_revision, judge, item, unit
-- output: sample
SELECT
    lang AS scope,
    model,
    model_revision,
    judge,
    concat(pillar, ' / ', capability, ' / ', facet) AS item,
    CAST(prompt_id AS TEXT) AS unit,
    score AS value
FROM scored_cells
WHERE score IS NOT NULL
