-- name: rewards
-- question: What reward does each prediction get?
-- grain: one prediction about one image
-- key: scope, model, model_revision, judge, unit
-- output: sample
SELECT
    split AS scope, assessor AS model, model_revision, '' AS judge, 'total' AS item, image AS unit, total AS value
FROM rewards
