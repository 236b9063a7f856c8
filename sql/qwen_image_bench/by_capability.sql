-- name: by_capability
-- question: How good is each model at each capability?
-- grain: one capability of one model
-- key: model, model_revision, judge, lang, pillar, capability
-- output: table
SELECT
    model,
    lang,
    pillar,
    capability,
    exact_avg(score) AS score,
    count(score) AS n,
    model_revision,
    judge
FROM capability_scores
GROUP BY model, model_revision, judge, lang, pillar, capability
ORDER BY model, model_revision, judge, lang, pillar, capability
