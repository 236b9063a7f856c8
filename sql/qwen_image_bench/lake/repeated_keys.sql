-- name: repeated_keys
-- question: About which images and pillars is there more than one reply?
-- grain: one image and pillar
-- key: model, model_revision, judge, lang, prompt_id, pillar
-- output: lake
-- Read when sources are published; if there is any row, repeated.sql is asked with these rows as a table.
SELECT model, model_revision, judge, lang, prompt_id, pillar
FROM qwen_image_bench_parts.responses
GROUP BY model, model_revision, judge, lang, prompt_id, pillar
HAVING count(*) > 1
