-- name: images
-- question: Which generated images count?
-- grain: one image
-- key: model, model_revision, judge, prompt, position
-- output: filter
SELECT r.*
FROM magicbench_parts.images AS r
LEFT ANTI JOIN (SELECT source, source_line FROM magicbench_parts.set_aside WHERE kind = 'assessment') AS s
    ON r.source = s.source AND r.source_line = s.source_line
