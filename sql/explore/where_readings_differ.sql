-- name: where_readings_differ
-- question: Which judged entries count differently under the official and the strict reading?
-- grain: one entry
-- key: model, lang, prompt_id, pillar, capability_read, facet_read
-- output: explore
SELECT
    model,
    lang,
    prompt_id,
    pillar,
    capability_read,
    facet_read,
    raw,
    in_rubric,
    state,
    value,
    state_official,
    value_official
FROM qwen_image_bench.judgments
WHERE coalesce(CASE WHEN in_rubric THEN value END, -1) <> coalesce(value_official, -1)
ORDER BY model, lang, prompt_id, pillar, capability_read, facet_read
