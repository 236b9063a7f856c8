-- name: facets_that_separate
-- question: On which facets of the rubric are the best and the worst model furthest apart?
-- grain: one facet in one language
-- key: lang, judge, pillar, capability, facet
-- output: explore
SELECT
    b.lang,
    b.judge,
    b.pillar,
    b.capability,
    b.facet,
    max(b.score) - min(b.score) AS spread,
    first_value(b.model ORDER BY b.score DESC, b.model) AS best_model,
    max(b.score) AS best,
    first_value(b.model ORDER BY b.score, b.model) AS worst_model,
    min(b.score) AS worst,
    min(b.n) AS least_cells
FROM qwen_image_bench.by_facet AS b
JOIN qwen_image_bench.taxonomy AS t
    ON b.pillar = t.pillar AND b.capability = t.capability AND b.facet = t.facet
GROUP BY b.lang, b.judge, b.pillar, b.capability, b.facet
ORDER BY spread DESC, b.lang, b.judge, b.pillar, b.capability, b.facet
