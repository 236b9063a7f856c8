-- name: conflicts
-- question: Which prompts have different facets (dims_en) in two places?
-- grain: one place of one prompt
-- key: item, source, source_line
-- output: lake
-- Read when sources are published: any row is an error, whatever --on-error says.
WITH conflicting AS (
    SELECT prompt_id
    FROM qwen_image_bench_parts.prompts
    GROUP BY prompt_id
    HAVING min(facets_digest) <> max(facets_digest)
)

SELECT
    concat('prompt ', p.prompt_id, ' has different facets (dims_en)') AS item,
    p.source,
    min(p.source_line) AS source_line,
    p.facets_digest
FROM qwen_image_bench_parts.prompts AS p
JOIN conflicting AS c ON p.prompt_id = c.prompt_id
WHERE p.facets_digest IS NOT NULL
GROUP BY p.prompt_id, p.source, p.facets_digest
ORDER BY item, source, source_line
