-- name: missing
-- question: Which metrics lack a value for some images?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    count(CASE WHEN missing + invalid > 0 THEN 1 END) AS n,
    coalesce(string_agg(CASE WHEN missing + invalid > 0 THEN concat(metric, ' ', missing + invalid) END, ', ' ORDER BY metric), '') AS detail
FROM ledger
WHERE level = 'all' AND metric <> ''
ORDER BY n
