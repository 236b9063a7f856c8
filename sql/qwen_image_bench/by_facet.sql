-- name: by_facet
-- question: How good is each model at each facet?
-- grain: one facet of one model
-- key: model, model_revision, judge, lang, pillar, capability, facet
-- output: table
SELECT
    model,
    lang,
    pillar,
    capability,
    facet,
    exact_avg(score) AS score,
    count(score) AS n,
    model_revision,
    judge
FROM scored_cells
GROUP BY model, model_revision, judge, lang, pillar, capability, facet
ORDER BY model, model_revision, judge, lang, pillar, capability, facet
