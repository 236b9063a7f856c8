-- name: predictions
-- question: Which predictions count?
-- grain: one prediction about one image
-- key: assessor, model_revision, split, image
-- output: filter
SELECT r.*
FROM magicdata340k_parts.predictions AS r
LEFT ANTI JOIN (SELECT source, source_line FROM magicdata340k_parts.set_aside WHERE kind = 'prediction') AS s
    ON r.source = s.source AND r.source_line = s.source_line
