-- name: classes
-- question: Which images of each class have no artifact of it, or of interaction?
-- grain: one class of one prompt of one model
-- key: scope, model, model_revision, judge, item, unit
-- output: sample
-- Only where scores are shares of what was counted: other denominators have no observations behind them.
SELECT '' AS scope, model, model_revision, judge, 'interaction' AS item, prompt AS unit, interaction AS value
FROM prompt_scores
WHERE interaction IS NOT NULL AND $denominators = 'valid' AND $flags_of = 'valid'
UNION ALL
SELECT '' AS scope, model, model_revision, judge, concat(class, '_own') AS item, prompt AS unit, own AS value
FROM prompt_scores
WHERE own IS NOT NULL AND $denominators = 'valid' AND $flags_of = 'valid'
