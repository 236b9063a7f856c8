-- name: rewards
-- question: What training reward does each prediction get?
-- grain: one prediction about one image
-- key: assessor, model_revision, split, image
-- output: table
SELECT
    a.assessor,
    a.split,
    a.image,
    r.format,
    r.binary_reward,
    r.l2,
    r.l3,
    r.total,
    a.model_revision
FROM assessed AS a
JOIN pattern_rewards AS r
    ON a.gold = r.gold AND a.exact_outcome = r.exact_outcome AND coalesce(a.exact_mask, 0) = r.mask
ORDER BY a.assessor, a.model_revision, a.split, a.image
