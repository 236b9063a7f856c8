-- name: cells
-- question: What does the official reading make of each judged entry?
-- grain: one entry of a reply as read
-- key: model, model_revision, judge, lang, prompt_id, pillar, capability, facet
-- output: view
-- State is null where another entry of the same reply holds the cell.
SELECT
    model,
    model_revision,
    judge,
    lang,
    prompt_id,
    pillar,
    capability_official AS capability,
    facet_official AS facet,
    in_rubric,
    state_official AS state,
    value_official AS value,
    true AS may_score
FROM judgments
WHERE facet_official IS NOT NULL
