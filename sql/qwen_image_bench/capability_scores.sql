-- name: capability_scores
-- question: How good is each image at each capability?
-- grain: one capability of one image
-- key: model, model_revision, judge, lang, prompt_id, pillar, capability
-- output: table
SELECT
    model,
    lang,
    prompt_id,
    pillar,
    capability,
    exact_avg(score) AS score,
    count(score) AS n,
    model_revision,
    judge
FROM scored_cells
GROUP BY model, model_revision, judge, lang, prompt_id, pillar, capability
ORDER BY model, model_revision, judge, lang, prompt_id, pillar, capability
