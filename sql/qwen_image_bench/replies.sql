-- name: replies
-- question: How did the protocol's reading fare with each reply, how was it repaired, and was it set aside?
-- grain: one reply
-- key: model, model_revision, judge, lang, prompt_id, pillar, source, source_line
-- output: view
SELECT
    r.model,
    r.model_revision,
    r.judge,
    r.lang,
    r.prompt_id,
    r.pillar,
    r.source,
    r.source_line,
    CASE WHEN $protocol = 'strict' THEN r.outcome ELSE r.outcome_official END AS outcome,
    r.repairs,
    r.repairs_official,
    s.source IS NOT NULL AS is_set_aside
FROM responses AS r
LEFT JOIN set_aside AS s
    ON r.source = s.source
    AND r.source_line = s.source_line
    AND r.model = s.model
    AND r.lang = s.lang
    AND r.pillar = s.pillar
