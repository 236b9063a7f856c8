-- name: unreadable_replies
-- question: Which replies could not be read, and why?
-- grain: one reason of one model and pillar
-- key: model, lang, pillar, reason
-- output: explore
SELECT
    model,
    lang,
    pillar,
    reason,
    count(*) AS n,
    min(prompt_id) AS first_prompt_id
FROM qwen_image_bench.responses
WHERE outcome = 'parse_failed'
GROUP BY model, lang, pillar, reason
ORDER BY n DESC, model, lang, pillar, reason
