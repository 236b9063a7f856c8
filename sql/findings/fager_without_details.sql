-- name: without_details
-- question: How many summaries are of images whose answers are not in the lake?
-- grain: the lake
-- key: n
-- output: finding
SELECT count(*) AS n, coalesce(min(concat(s.collection, '/', s.run, ' ', s.prompt_index)), '') AS detail
FROM summaries AS s
LEFT ANTI JOIN images AS i
    ON s.collection = i.collection AND s.run = i.run AND s.model_revision = i.model_revision AND s.judge = i.judge
    AND s.prompt_index = i.prompt_index
ORDER BY n
