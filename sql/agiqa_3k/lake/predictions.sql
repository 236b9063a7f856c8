-- name: predictions
-- question: Which predictions count?
-- grain: one metric of one image
-- key: metric, name
-- output: filter
SELECT r.*
FROM agiqa_3k_parts.predictions AS r
LEFT ANTI JOIN (SELECT source, source_line, metric FROM agiqa_3k_parts.set_aside WHERE kind = 'prediction') AS s
    ON r.source = s.source AND r.source_line = s.source_line AND r.metric = s.metric
