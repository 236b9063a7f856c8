-- name: images
-- question: Which images with human scores count?
-- grain: one image
-- key: name
-- output: filter
SELECT r.*
FROM agiqa_3k_parts.images AS r
LEFT ANTI JOIN (SELECT source, source_line FROM agiqa_3k_parts.set_aside WHERE kind = 'image') AS s
    ON r.source = s.source AND r.source_line = s.source_line
