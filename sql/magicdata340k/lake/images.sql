-- name: images
-- question: Which labelled images count?
-- grain: one image of one split
-- key: split, image
-- output: filter
SELECT r.*
FROM magicdata340k_parts.images AS r
LEFT ANTI JOIN (SELECT source, source_line FROM magicdata340k_parts.set_aside WHERE kind = 'labels') AS s
    ON r.source = s.source AND r.source_line = s.source_line
