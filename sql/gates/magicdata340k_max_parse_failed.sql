-- name: max_parse_failed
-- question: What share of each assessor's predictions could not be read?
-- grain: one assessor
-- key: what
-- output: gate
SELECT
    concat_ws(' ', assessor, nullif(model_revision, '')) AS what,
    CAST(max(n_invalid) AS DOUBLE) / nullif(max(n) + CASE WHEN $unusable = 'out' THEN max(n_invalid) ELSE 0 END, 0) AS value
FROM detection
GROUP BY assessor, model_revision
ORDER BY what
