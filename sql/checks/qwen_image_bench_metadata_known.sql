-- name: metadata_known
-- question: Is there metadata, where only its facets count?
-- grain: one row if there is none
-- key: n
-- output: check
SELECT n
FROM (SELECT count(*) AS n FROM prompts WHERE has_metadata) AS known
WHERE n = 0
ORDER BY n
