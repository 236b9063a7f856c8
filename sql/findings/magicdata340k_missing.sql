-- name: missing
-- question: Which assessors have no prediction for some labelled images?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    count(CASE WHEN missing > 0 THEN 1 END) AS n,
    coalesce(string_agg(CASE WHEN missing > 0 THEN concat(assessor, ' ', missing) END, ', ' ORDER BY assessor), '') AS detail
FROM ledger
WHERE level = 'all' AND assessor <> ''
ORDER BY n
