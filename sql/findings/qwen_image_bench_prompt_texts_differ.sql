-- name: prompt_texts_differ
-- question: How many prompts have another text in another file, and which is the first?
-- grain: one row
-- key: n
-- output: finding
WITH texts AS (
    SELECT
        prompt_id,
        min(prompt_cn) <> max(prompt_cn) OR min(prompt_en) <> max(prompt_en) AS differ
    FROM qwen_image_bench_parts.prompts
    GROUP BY prompt_id
)

SELECT
    count(*) AS n,
    CAST(min(prompt_id) AS VARCHAR) AS detail
FROM texts
WHERE differ
ORDER BY n
