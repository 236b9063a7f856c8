-- name: ratings
-- question: Which single ratings count?
-- grain: one rating
-- key: target, session, subject, item
-- output: filter
SELECT r.*
FROM agiqa_3k_parts.ratings AS r
LEFT ANTI JOIN (SELECT source, source_line FROM agiqa_3k_parts.set_aside WHERE kind = 'rating') AS s
    ON r.source = s.source AND r.source_line = s.source_line
