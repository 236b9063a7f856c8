-- name: unreadable_replies
-- question: Which replies could not be read under either reading, and why?
-- grain: one pair of reasons of one model, judge and pillar
-- key: model, model_revision, judge, lang, pillar, strict_reason, official_reason
-- output: explore
SELECT
    r.model,
    r.lang,
    r.pillar,
    r.reason AS strict_reason,
    r.reason_official AS official_reason,
    count(*) AS n,
    min(r.prompt_id) AS first_prompt_id,
    r.model_revision,
    r.judge
FROM qwen_image_bench.responses AS r
LEFT ANTI JOIN qwen_image_bench.set_aside AS s
    ON r.source = s.source
    AND r.source_line = s.source_line
    AND r.model = s.model
    AND r.lang = s.lang
    AND r.pillar = s.pillar
WHERE r.outcome = 'parse_failed' OR r.outcome_official = 'parse_failed'
GROUP BY r.model, r.model_revision, r.judge, r.lang, r.pillar, r.reason, r.reason_official
ORDER BY n DESC, r.model, r.model_revision, r.judge, r.lang, r.pillar, strict_reason, official_reason
