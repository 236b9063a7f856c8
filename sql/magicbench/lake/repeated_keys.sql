-- name: repeated_keys
-- question: About which prompts is there more than one record?
-- grain: one prompt of one model
-- key: kind, model, model_revision, judge, prompt
-- output: lake
-- Read when sources are published; if there is any row, repeated.sql is asked with these rows as a table. Records without a prompt
-- are each their own.
SELECT 'assessment' AS kind, model, model_revision, judge, prompt
FROM magicbench_parts.assessments
WHERE prompt <> ''
GROUP BY model, model_revision, judge, prompt
HAVING count(*) > 1
