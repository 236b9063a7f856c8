-- name: generators
-- question: Which rows of side tables count?
-- grain: one image
-- key: image
-- output: filter
SELECT r.*
FROM magicdata340k_parts.generators AS r
LEFT ANTI JOIN (SELECT source, source_line FROM magicdata340k_parts.set_aside WHERE kind = 'generator') AS s
    ON r.source = s.source AND r.source_line = s.source_line
