-- name: skipped
-- question: How many records have no prompt, or could not be read?
-- grain: the lake
-- key: n
-- output: finding
SELECT count(*) AS n, coalesce(min(CASE WHEN outcome = 'parse_failed' THEN reason END), 'no prompt') AS detail
FROM assessments
WHERE prompt = ''
ORDER BY n
