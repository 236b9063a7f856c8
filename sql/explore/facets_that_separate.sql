-- name: facets_that_separate
-- question: On which facets are the best and the worst model furthest apart?
-- grain: one facet in one language
-- key: lang, judge, pillar, capability, facet
-- output: explore
SELECT
    lang,
    judge,
    pillar,
    capability,
    facet,
    max(score) - min(score) AS spread,
    max(score) AS best,
    min(score) AS worst,
    min(n) AS least_cells
FROM qwen_image_bench.by_facet
GROUP BY lang, judge, pillar, capability, facet
ORDER BY spread DESC, lang, judge, pillar, capability, facet
