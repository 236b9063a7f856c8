-- name: scores_unusable
-- question: How many scores of other metrics are no numbers?
-- grain: the lake
-- key: n
-- output: finding
SELECT count(*) AS n, coalesce(min(concat(collection, '/', run, ' ', metric, ' ', prompt_index)), '') AS detail
FROM scores
WHERE state <> 'ok'
ORDER BY n
