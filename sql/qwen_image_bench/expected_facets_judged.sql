-- name: expected_facets
-- question: Which cells should each image have?
-- grain: one facet of one prompt
-- key: prompt_id, pillar, capability, facet
-- output: memory
-- Every facet of the rubric, of each pillar that the prompt asks for.
SELECT a.prompt_id, t.pillar, t.capability, t.facet
FROM active_pillars AS a
JOIN taxonomy AS t ON a.pillar = t.pillar
