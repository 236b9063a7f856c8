-- name: scored_cells
-- question: How many points has each cell that counts?
-- grain: one cell of one image
-- key: model, model_revision, judge, lang, prompt_id, pillar, capability, facet
-- output: view
SELECT
    model,
    model_revision,
    judge,
    lang,
    prompt_id,
    pillar,
    capability,
    facet,
    CASE value WHEN 0 THEN $score_map_0 WHEN 1 THEN $score_map_1 WHEN 2 THEN $score_map_2 END AS score
FROM cells
WHERE state = 'ok' AND may_score
