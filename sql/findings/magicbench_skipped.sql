-- name: skipped
-- question: How many records have no prompt, or could not be read?
-- grain: the lake
-- key: n
-- output: finding
SELECT count(*) AS n, coalesce(min(reason), '') AS detail
FROM assessments
WHERE prompt = ''
ORDER BY n
