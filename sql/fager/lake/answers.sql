-- name: answers
-- question: Which answers count?
-- grain: one answer about an image
-- key: collection, run, model_revision, judge, prompt_index, position
-- output: filter
SELECT r.*
FROM fager_parts.answers AS r
LEFT ANTI JOIN (SELECT source, source_line FROM fager_parts.set_aside WHERE kind = 'image') AS s
    ON r.source = s.source AND r.source_line = s.source_line
