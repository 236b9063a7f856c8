-- name: expected_facets
-- question: Which cells should each image have?
-- grain: one facet of one prompt
-- key: prompt_id, pillar, capability, facet
-- output: memory
-- Every facet that the prompt's dims_en lists.
SELECT prompt_id, pillar, capability, facet
FROM prompt_facets
