-- name: repeated
-- question: Which replies are about one image and pillar, and how well can each be read?
-- grain: one reply
-- key: model, model_revision, judge, lang, prompt_id, pillar, source, source_line
-- output: lake
-- Read when sources are published. The last four columns are the reply's place, the digest of its text and how many readings
-- can read it (-1 if there is no text); those before are the key that must be unique. Sorted where it is read.
SELECT
    r.model,
    r.model_revision,
    r.judge,
    r.lang,
    r.prompt_id,
    r.pillar,
    r.source,
    r.source_line,
    r.text_sha256 AS digest,
    CASE
        WHEN r.outcome = 'missing' AND r.outcome_official = 'missing' THEN -1
        ELSE CASE WHEN r.outcome = 'ok' THEN 1 ELSE 0 END + CASE WHEN r.outcome_official = 'ok' THEN 1 ELSE 0 END
    END AS readable
FROM qwen_image_bench_parts.responses AS r
JOIN qwen_image_bench_parts.repeated_keys AS d
    ON r.model = d.model AND r.model_revision = d.model_revision AND r.judge = d.judge AND r.lang = d.lang
    AND r.prompt_id = d.prompt_id AND r.pillar = d.pillar
