-- name: min_coverage
-- question: What share of the prompts with metadata does each model cover?
-- grain: one model, revision, judge and language
-- key: what
-- output: gate
SELECT concat_ws(' ', model, nullif(model_revision, ''), nullif(judge, ''), lang) AS what, coverage AS value
FROM leaderboard
ORDER BY what
