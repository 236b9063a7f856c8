-- name: max_not_valid
-- question: What share of each model's records is not valid?
-- grain: one model, revision and judge
-- key: what
-- output: gate
SELECT
    concat_ws(' ', model, nullif(model_revision, ''), nullif(judge, '')) AS what,
    CAST(n - n_valid AS DOUBLE) / nullif(n, 0) AS value
FROM leaderboard
ORDER BY what
