-- name: by_pillar
-- question: How good is each model at each pillar?
-- grain: one pillar of one model
-- key: model, model_revision, judge, lang, pillar
-- output: table
SELECT
    model,
    lang,
    pillar,
    exact_avg(score) AS score,
    count(score) AS n,
    model_revision,
    judge
FROM pillar_scores
GROUP BY model, model_revision, judge, lang, pillar
ORDER BY model, model_revision, judge, lang, pillar
