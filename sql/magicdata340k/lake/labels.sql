-- name: labels
-- question: Which labels of people count?
-- grain: one label of one image
-- key: split, image, level, l2, label
-- output: filter
SELECT r.*
FROM magicdata340k_parts.labels AS r
LEFT ANTI JOIN (SELECT source, source_line FROM magicdata340k_parts.set_aside WHERE kind = 'labels') AS s
    ON r.source = s.source AND r.source_line = s.source_line
