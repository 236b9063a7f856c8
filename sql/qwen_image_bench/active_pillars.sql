-- name: active_pillars
-- question: Which pillars does each prompt with metadata ask for?
-- grain: one pillar of one prompt
-- key: prompt_id, pillar
-- output: memory
SELECT DISTINCT prompt_id, pillar
FROM prompt_facets
