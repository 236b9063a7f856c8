-- name: where_readings_differ
-- question: Which judged entries count differently under the official and the strict reading?
-- grain: one entry
-- key: model, model_revision, judge, lang, prompt_id, pillar, capability_read, facet_read
-- output: explore
SELECT
    model,
    lang,
    prompt_id,
    pillar,
    capability_read,
    facet_read,
    raw,
    CASE WHEN in_rubric THEN state ELSE 'unknown' END AS strict_state,
    CASE WHEN in_rubric THEN value END AS strict_value,
    state_official AS official_state,
    value_official AS official_value,
    model_revision,
    judge
FROM qwen_image_bench.judgments
WHERE coalesce(CASE WHEN in_rubric THEN value END, -1) <> coalesce(value_official, -1)
ORDER BY model, model_revision, judge, lang, prompt_id, pillar, capability_read, facet_read
