-- name: health_facets
-- question: How does the judge spread its scores over each facet?
-- grain: one facet of one model
-- key: model, model_revision, judge, lang, pillar, capability, facet
-- output: memory
-- Facets of the rubric that no reply speaks of have a row too.
WITH counted AS (
    SELECT
        model,
        model_revision,
        judge,
        lang,
        pillar,
        capability,
        facet,
        count(*) AS cells,
        count(CASE WHEN state = 'na' THEN 1 END) AS na,
        count(CASE WHEN state = 'ok' AND value = 0 THEN 1 END) AS n_0,
        count(CASE WHEN state = 'ok' AND value = 1 THEN 1 END) AS n_1,
        count(CASE WHEN state = 'ok' AND value = 2 THEN 1 END) AS n_2,
        count(CASE WHEN state NOT IN ('ok', 'na') THEN 1 END) AS unusable
    FROM cells
    WHERE state IS NOT NULL
    GROUP BY model, model_revision, judge, lang, pillar, capability, facet
),

named AS (
    SELECT e.model, e.model_revision, e.judge, e.lang, t.pillar, t.capability, t.facet
    FROM entries AS e
    CROSS JOIN taxonomy AS t
    UNION
    SELECT model, model_revision, judge, lang, pillar, capability, facet
    FROM counted
)

SELECT
    n.model,
    n.model_revision,
    n.judge,
    n.lang,
    n.pillar,
    n.capability,
    n.facet,
    coalesce(c.cells, 0) AS cells,
    coalesce(c.na, 0) AS na,
    coalesce(c.n_0, 0) AS n_0,
    coalesce(c.n_1, 0) AS n_1,
    coalesce(c.n_2, 0) AS n_2,
    coalesce(c.unusable, 0) AS unusable
FROM named AS n
LEFT JOIN counted AS c
    ON n.model = c.model AND n.model_revision = c.model_revision AND n.judge = c.judge AND n.lang = c.lang
    AND n.pillar = c.pillar AND n.capability = c.capability AND n.facet = c.facet
