-- name: prompt_facets
-- question: Which facets does each prompt ask for?
-- grain: one facet of one prompt
-- key: prompt_id, pillar, capability, facet
-- output: view
SELECT
    prompt_id,
    min(position) AS position,
    pillar,
    capability,
    facet,
    bool_or(in_rubric) AS in_rubric
FROM qwen_image_bench_parts.prompt_facets
GROUP BY prompt_id, pillar, capability, facet
