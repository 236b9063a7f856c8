-- name: ledger
-- question: What became of each record?
-- grain: one model, in all, by class and by detail class
-- key: model, model_revision, judge, level, item
-- output: table
-- expected = ok + missing + invalid + parse_failed + skipped, for every row.
WITH known AS (
    SELECT count(*) AS n
    FROM prompts
),

states AS (
    SELECT
        a.model,
        a.model_revision,
        a.judge,
        coalesce(a.class, a.class_read, '(none)') AS class,
        coalesce(a.detail_class, '(none)') AS detail_class,
        CASE WHEN a.prompt = '' THEN 'skipped' ELSE a.outcome END AS state,
        k.n > 0 AND a.prompt <> '' AND p.prompt IS NULL AS is_unexpected,
        a.prompt <> '' AND a.class IS NULL AS is_unknown,
        FALSE AS is_duplicate
    FROM assessments AS a
    CROSS JOIN known AS k
    LEFT JOIN prompts AS p ON a.prompt = p.prompt
    UNION ALL
    SELECT
        s.model,
        s.model_revision,
        s.judge,
        coalesce(p.class, '(none)') AS class,
        coalesce(p.detail_class, '(none)') AS detail_class,
        'duplicate' AS state,
        FALSE AS is_unexpected,
        FALSE AS is_unknown,
        TRUE AS is_duplicate
    FROM set_aside AS s
    LEFT JOIN prompts AS p ON s.prompt = p.prompt
    WHERE s.kind = 'assessment'
),

items AS (
    SELECT *, 'all' AS level, '' AS item FROM states
    UNION ALL
    SELECT *, 'class' AS level, class AS item FROM states
    UNION ALL
    SELECT *, 'detail_class' AS level, detail_class AS item FROM states
)

SELECT
    model,
    level,
    item,
    count(CASE WHEN NOT is_duplicate THEN 1 END) AS expected,
    count(CASE WHEN state = 'ok' THEN 1 END) AS ok,
    count(CASE WHEN state = 'missing' THEN 1 END) AS missing,
    count(CASE WHEN state = 'invalid' THEN 1 END) AS invalid,
    count(CASE WHEN state = 'parse_failed' THEN 1 END) AS parse_failed,
    count(CASE WHEN state = 'skipped' THEN 1 END) AS skipped,
    count(CASE WHEN is_unexpected THEN 1 END) AS unexpected,
    count(CASE WHEN is_unknown THEN 1 END) AS unknown,
    count(CASE WHEN is_duplicate THEN 1 END) AS duplicate,
    model_revision,
    judge
FROM items
GROUP BY model, model_revision, judge, level, item
ORDER BY model, model_revision, judge, level, item
