-- name: ledger_cells
-- question: Of which kind is each judged cell, and how many are there of each?
-- grain: one facet of one model
-- key: model, model_revision, judge, lang, pillar, capability, facet
-- output: view
-- Without any metadata nothing is expected, and a cell of the rubric counts by its state.
WITH metadata AS (
    SELECT count(*) > 0 AS is_known
    FROM prompts
    WHERE has_metadata
),

kinds AS (
    SELECT
        c.model,
        c.model_revision,
        c.judge,
        c.lang,
        c.pillar,
        c.capability,
        c.facet,
        CASE
            WHEN c.state IS NULL THEN 'duplicate'
            WHEN NOT c.may_score THEN 'unknown'
            WHEN e.facet IS NOT NULL THEN c.state
            WHEN NOT c.in_rubric THEN 'unknown'
            WHEN m.is_known THEN 'unexpected'
            ELSE c.state
        END AS kind
    FROM cells AS c
    CROSS JOIN metadata AS m
    LEFT JOIN expected_facets AS e
        ON c.prompt_id = e.prompt_id
        AND c.pillar = e.pillar
        AND c.capability = e.capability
        AND c.facet = e.facet
)

SELECT
    model,
    model_revision,
    judge,
    lang,
    pillar,
    capability,
    facet,
    count(CASE WHEN kind = 'ok' THEN 1 END) AS ok,
    count(CASE WHEN kind = 'na' THEN 1 END) AS na,
    count(CASE WHEN kind = 'missing' THEN 1 END) AS said_missing,
    count(CASE WHEN kind = 'invalid' THEN 1 END) AS invalid,
    count(CASE WHEN kind = 'unexpected' THEN 1 END) AS unexpected,
    count(CASE WHEN kind = 'unknown' THEN 1 END) AS unknown,
    count(CASE WHEN kind = 'duplicate' THEN 1 END) AS duplicate
FROM kinds
GROUP BY model, model_revision, judge, lang, pillar, capability, facet
