-- name: repeated_keys
-- question: About which images and scores is there more than one record?
-- grain: one image or score of a run
-- key: kind, collection, run, model_revision, judge, prompt_index, item
-- output: lake
-- Read when sources are published; if there is any row, repeated.sql is asked with these rows as a table.
SELECT 'image' AS kind, collection, run, model_revision, judge, prompt_index, '' AS item
FROM fager_parts.images
GROUP BY collection, run, model_revision, judge, prompt_index
HAVING count(*) > 1
UNION ALL
SELECT 'summary' AS kind, collection, run, model_revision, judge, prompt_index, '' AS item
FROM fager_parts.summaries
GROUP BY collection, run, model_revision, judge, prompt_index
HAVING count(*) > 1
UNION ALL
SELECT 'score' AS kind, collection, run, '' AS model_revision, '' AS judge, prompt_index, metric AS item
FROM fager_parts.scores
GROUP BY collection, run, metric, prompt_index
HAVING count(*) > 1
