-- name: repeated
-- question: Which records are about one prompt, and can each be read?
-- grain: one record
-- key: kind, model, model_revision, judge, prompt, source, source_line
-- output: lake
-- Read when sources are published. The last four columns are the record's place, a digest of what it says and how well the response
-- can be read (-1 if there is none); those before are the key that must be unique. Sorted where it is read.
SELECT
    'assessment' AS kind,
    r.model,
    r.model_revision,
    r.judge,
    r.prompt,
    r.source,
    r.source_line,
    concat(r.text_sha256, ' ', r.class_read, ' ', r.detail_class,
        CASE WHEN r.has_subject THEN ' subject' WHEN NOT r.has_subject THEN ' no subject' ELSE '' END) AS digest, 
    CASE r.outcome WHEN 'missing' THEN -1 WHEN 'ok' THEN 2 WHEN 'invalid' THEN 1 ELSE 0 END AS readable
FROM magicbench_parts.assessments AS r
JOIN magicbench_parts.repeated_keys AS d
    ON r.model = d.model AND r.model_revision = d.model_revision AND r.judge = d.judge AND r.prompt = d.prompt
