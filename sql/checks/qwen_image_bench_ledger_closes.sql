-- name: ledger_closes
-- question: Does every row of the ledger close, with no fewer missing cells than the judge said it left out?
-- grain: one row of the ledger that does not
-- key: model, model_revision, judge, lang, level, item
-- output: check
-- missing is what is left of the expected cells, so the sum closes by construction; what can go wrong is that more cells were
-- counted than expected, or that the remainder is less than the cells the judge itself left empty.
WITH said AS (
    SELECT
        model,
        model_revision,
        judge,
        lang,
        concat(pillar, ' / ', capability, ' / ', facet) AS item,
        sum(said_missing) AS said_missing
    FROM ledger_facets
    GROUP BY model, model_revision, judge, lang, pillar, capability, facet
)

SELECT l.*, s.said_missing
FROM ledger AS l
LEFT JOIN said AS s
    ON l.model = s.model AND l.model_revision = s.model_revision AND l.judge = s.judge AND l.lang = s.lang
    AND l.level = 'facet' AND l.item = s.item
WHERE l.missing < coalesce(s.said_missing, 0)
ORDER BY l.model, l.model_revision, l.judge, l.lang, l.level, l.item
