-- name: long_prompts
-- question: Do models lose points on long prompts?
-- grain: one model and prompt length
-- key: model, model_revision, judge, lang, length
-- output: explore
WITH lengths AS (
    SELECT
        prompt_id,
        CASE WHEN n_chars_en > (SELECT median(n_chars_en) FROM qwen_image_bench.prompts) THEN 'long' ELSE 'short' END AS length
    FROM qwen_image_bench.prompts
)

SELECT
    s.model,
    s.lang,
    l.length,
    exact_avg(s.overall) AS overall,
    count(*) AS n,
    s.model_revision,
    s.judge
FROM qwen_image_bench.prompt_scores AS s
JOIN lengths AS l ON s.prompt_id = l.prompt_id
GROUP BY s.model, s.model_revision, s.judge, s.lang, l.length
ORDER BY s.model, s.model_revision, s.judge, s.lang, l.length
