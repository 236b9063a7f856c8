-- name: assessments
-- question: Which results count?
-- grain: one record of results
-- key: model, model_revision, judge, prompt
-- output: filter
SELECT r.*
FROM magicbench_parts.assessments AS r
LEFT ANTI JOIN (SELECT source, source_line FROM magicbench_parts.set_aside WHERE kind = 'assessment') AS s
    ON r.source = s.source AND r.source_line = s.source_line
