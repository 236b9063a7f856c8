-- name: ledger
-- question: What became of each cell that should be there, at every level?
-- grain: one model and one item of one level
-- key: model, model_revision, judge, lang, level, item
-- output: table
-- expected = ok + na + missing + invalid + parse_failed + skipped.
WITH items AS (
    SELECT *, 'all' AS level, '' AS item FROM ledger_facets
    UNION ALL
    SELECT *, 'pillar' AS level, pillar AS item FROM ledger_facets
    UNION ALL
    SELECT *, 'capability' AS level, concat(pillar, ' / ', capability) AS item FROM ledger_facets
    UNION ALL
    SELECT *, 'facet' AS level, concat(pillar, ' / ', capability, ' / ', facet) AS item FROM ledger_facets
)

SELECT
    model,
    lang,
    level,
    item,
    sum(expected) AS expected,
    sum(ok) AS ok,
    sum(na) AS na,
    sum(expected - ok - na - invalid - parse_failed) AS missing,
    sum(invalid) AS invalid,
    sum(parse_failed) AS parse_failed,
    CAST(0 AS BIGINT) AS skipped,
    sum(unexpected) AS unexpected,
    sum(unknown) AS unknown,
    sum(duplicate) AS duplicate,
    model_revision,
    judge
FROM items
GROUP BY model, model_revision, judge, lang, level, item
ORDER BY model, model_revision, judge, lang, level, item
