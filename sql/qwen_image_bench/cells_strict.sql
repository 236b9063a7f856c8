-- name: cells
-- question: What does the strict reading make of each judged entry?
-- grain: one entry of a reply as read
-- key: model, model_revision, judge, lang, prompt_id, pillar, capability, facet
-- output: view
-- State is null where another entry of the same reply holds the cell. Facets outside the rubric are listed, not scored.
SELECT
    model,
    model_revision,
    judge,
    lang,
    prompt_id,
    pillar,
    capability,
    facet,
    in_rubric,
    state,
    value,
    in_rubric AS may_score
FROM judgments
WHERE facet IS NOT NULL
