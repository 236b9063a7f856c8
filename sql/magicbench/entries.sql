-- name: entries
-- question: Which models are there?
-- grain: one model, revision and judge
-- key: model, model_revision, judge
-- output: memory
SELECT DISTINCT model, model_revision, judge
FROM assessments
