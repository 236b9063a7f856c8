-- name: detail_classes
-- question: Which images of each detail class do not deform their subject?
-- grain: one prompt of one model
-- key: scope, model, model_revision, judge, item, unit
-- output: sample
-- Only where scores are shares of what was counted: other denominators have no observations behind them.
SELECT '' AS scope, model, model_revision, judge, detail_class AS item, prompt AS unit, own AS value
FROM prompt_scores
WHERE own IS NOT NULL AND $denominators = 'valid' AND $flags_of = 'valid'
