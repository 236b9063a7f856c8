-- name: min_coverage
-- question: What share of the benchmark's prompts does each model cover?
-- grain: one model, revision and judge
-- key: what
-- output: gate
SELECT concat_ws(' ', model, nullif(model_revision, ''), nullif(judge, '')) AS what, coverage AS value
FROM leaderboard
ORDER BY what
