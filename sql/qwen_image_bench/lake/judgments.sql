-- name: judgments
-- question: Which judged entries count?
-- grain: one entry of a reply as read
-- key: model, model_revision, judge, lang, prompt_id, pillar, capability_read, facet_read
-- output: filter
SELECT j.*
FROM qwen_image_bench_parts.judgments AS j
LEFT ANTI JOIN qwen_image_bench_parts.set_aside AS s
    ON j.source = s.source
    AND j.source_line = s.source_line
    AND j.model = s.model
    AND j.lang = s.lang
    AND j.pillar = s.pillar
