-- name: min_coverage
-- question: What share of the collection's prompts has an overall score?
-- grain: one run
-- key: what
-- output: gate
SELECT concat_ws(' ', collection, run, nullif(model_revision, ''), nullif(judge, '')) AS what, coverage AS value
FROM leaderboard
ORDER BY what
