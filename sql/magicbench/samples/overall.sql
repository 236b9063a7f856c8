-- name: overall
-- question: Which images have no artifact?
-- grain: one prompt of one model
-- key: scope, model, model_revision, judge, unit
-- output: sample
-- Only where scores are shares of what was counted: other denominators have no observations behind them.
SELECT
    '' AS scope,
    model,
    model_revision,
    judge,
    '' AS item,
    prompt AS unit,
    overall AS value
FROM prompt_scores
WHERE overall IS NOT NULL AND $denominators = 'valid' AND $flags_of = 'valid'
