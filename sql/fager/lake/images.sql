-- name: images
-- question: Which checked images count?
-- grain: one image of a run
-- key: collection, run, model_revision, judge, prompt_index
-- output: filter
SELECT r.*
FROM fager_parts.images AS r
LEFT ANTI JOIN (SELECT source, source_line FROM fager_parts.set_aside WHERE kind = 'image') AS s
    ON r.source = s.source AND r.source_line = s.source_line
