-- name: scored_cells
-- question: How many points has each cell that counts, of those the prompt asks for?
-- grain: one cell of one image
-- key: model, model_revision, judge, lang, prompt_id, pillar, capability, facet
-- output: view
SELECT
    c.model,
    c.model_revision,
    c.judge,
    c.lang,
    c.prompt_id,
    c.pillar,
    c.capability,
    c.facet,
    CASE c.value WHEN 0 THEN $score_map_0 WHEN 1 THEN $score_map_1 WHEN 2 THEN $score_map_2 END AS score
FROM cells AS c
LEFT SEMI JOIN prompt_facets AS f
    ON c.prompt_id = f.prompt_id
    AND c.pillar = f.pillar
    AND c.capability = f.capability
    AND c.facet = f.facet
WHERE c.state = 'ok' AND c.may_score
