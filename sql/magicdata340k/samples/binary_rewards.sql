-- name: binary_rewards
-- question: Which images does each assessor tell rightly to be with or without artifacts?
-- grain: one prediction about one image
-- key: scope, model, model_revision, judge, unit
-- output: sample
SELECT
    split AS scope, assessor AS model, model_revision, '' AS judge, 'binary_reward' AS item, image AS unit,
    binary_reward AS value
FROM rewards
