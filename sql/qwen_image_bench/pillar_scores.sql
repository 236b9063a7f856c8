-- name: pillar_scores
-- question: How good is each image at each pillar?
-- grain: one pillar of one image
-- key: model, model_revision, judge, lang, prompt_id, pillar
-- output: table
SELECT
    model,
    lang,
    prompt_id,
    pillar,
    exact_avg(score) AS score,
    count(score) AS n,
    model_revision,
    judge
FROM capability_scores
GROUP BY model, model_revision, judge, lang, prompt_id, pillar
ORDER BY model, model_revision, judge, lang, prompt_id, pillar
