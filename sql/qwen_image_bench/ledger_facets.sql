-- name: ledger_facets
-- question: What became of each cell that should be there, facet by facet?
-- grain: one facet of one model
-- key: model, model_revision, judge, lang, pillar, capability, facet
-- output: memory
-- missing is what is left of the expected cells; said_missing, counted from the replies, must not exceed it (a check).
WITH expected AS (
    SELECT pillar, capability, facet, count(*) AS expected
    FROM expected_facets
    GROUP BY pillar, capability, facet
),

failed AS (
    SELECT r.model, r.model_revision, r.judge, r.lang, e.pillar, e.capability, e.facet, count(*) AS parse_failed
    FROM replies AS r
    JOIN expected_facets AS e ON r.prompt_id = e.prompt_id AND r.pillar = e.pillar
    WHERE r.outcome = 'parse_failed' AND NOT r.is_set_aside
    GROUP BY r.model, r.model_revision, r.judge, r.lang, e.pillar, e.capability, e.facet
),

aside AS (
    SELECT r.model, r.model_revision, r.judge, r.lang, t.pillar, t.capability, t.facet, count(*) AS set_aside
    FROM replies AS r
    JOIN taxonomy AS t ON r.pillar = t.pillar
    WHERE r.is_set_aside
    GROUP BY r.model, r.model_revision, r.judge, r.lang, t.pillar, t.capability, t.facet
),

rubric AS (
    SELECT pillar, capability, facet FROM taxonomy
    UNION
    SELECT pillar, capability, facet FROM expected
),

items AS (
    SELECT n.model, n.model_revision, n.judge, n.lang, t.pillar, t.capability, t.facet
    FROM entries AS n
    CROSS JOIN rubric AS t
    UNION
    SELECT model, model_revision, judge, lang, pillar, capability, facet
    FROM ledger_cells
),

metadata AS (
    SELECT count(*) > 0 AS is_known
    FROM prompts
    WHERE has_metadata
)

SELECT
    i.model,
    i.model_revision,
    i.judge,
    i.lang,
    i.pillar,
    i.capability,
    i.facet,
    CASE WHEN m.is_known THEN coalesce(e.expected, 0) END AS expected,
    coalesce(c.ok, 0) AS ok,
    coalesce(c.na, 0) AS na,
    coalesce(c.invalid, 0) AS invalid,
    CASE WHEN m.is_known THEN coalesce(f.parse_failed, 0) END AS parse_failed,
    coalesce(c.said_missing, 0) AS said_missing,
    coalesce(c.unexpected, 0) AS unexpected,
    coalesce(c.unknown, 0) AS unknown,
    coalesce(c.duplicate, 0) + coalesce(a.set_aside, 0) AS duplicate
FROM items AS i
CROSS JOIN metadata AS m
LEFT JOIN expected AS e
    ON i.pillar = e.pillar AND i.capability = e.capability AND i.facet = e.facet
LEFT JOIN ledger_cells AS c
    ON i.model = c.model AND i.model_revision = c.model_revision AND i.judge = c.judge AND i.lang = c.lang
    AND i.pillar = c.pillar AND i.capability = c.capability AND i.facet = c.facet
LEFT JOIN failed AS f
    ON i.model = f.model AND i.model_revision = f.model_revision AND i.judge = f.judge AND i.lang = f.lang
    AND i.pillar = f.pillar AND i.capability = f.capability AND i.facet = f.facet
LEFT JOIN aside AS a
    ON i.model = a.model AND i.model_revision = a.model_revision AND i.judge = a.judge AND i.lang = a.lang
    AND i.pillar = a.pillar AND i.capability = a.capability AND i.facet = a.facet
