-- name: prompts
-- question: What is known of each prompt, over all sources?
-- grain: one prompt
-- key: prompt_id
-- output: view
-- A prompt may come from its metadata file and from several files of replies; of texts that differ between them the greatest
-- one is shown.
SELECT
    prompt_id,
    max(prompt_cn) AS prompt_cn,
    max(prompt_en) AS prompt_en,
    character_length(max(prompt_cn)) AS n_chars_cn,
    character_length(max(prompt_en)) AS n_chars_en,
    bool_or(has_metadata) AS has_metadata,
    max(facets_digest) AS facets_digest
FROM qwen_image_bench_parts.prompts
GROUP BY prompt_id
