-- name: scores
-- question: Which scores of other metrics count?
-- grain: one score
-- key: collection, run, metric, prompt_index
-- output: filter
SELECT r.*
FROM fager_parts.scores AS r
LEFT ANTI JOIN (SELECT source, source_line FROM fager_parts.set_aside WHERE kind = 'score') AS s
    ON r.source = s.source AND r.source_line = s.source_line
