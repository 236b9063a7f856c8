-- name: ledger
-- question: What became of each single rating?
-- grain: the ratings, in all and by session
-- key: metric, level, item
-- output: table
-- expected = ok + missing + invalid + skipped, for every row.
WITH states AS (
    SELECT
        r.session,
        CASE WHEN r.state = 'ok' THEN coalesce(k.state, 'ok') ELSE r.state END AS state
    FROM ratings AS r
    LEFT JOIN rated AS k
        ON r.target = k.target AND r.session = k.session AND r.subject = k.subject AND r.item = k.item
    UNION ALL
    SELECT session, 'duplicate' AS state
    FROM set_aside
    WHERE kind = 'rating'
),

items AS (
    SELECT *, 'all' AS level, '' AS item FROM states
    UNION ALL
    SELECT *, 'session' AS level, coalesce(nullif(session, ''), '(none)') AS item FROM states
)

SELECT
    'ratings' AS metric,
    level,
    item,
    count(CASE WHEN state <> 'duplicate' THEN 1 END) AS expected,
    count(CASE WHEN state = 'ok' THEN 1 END) AS ok,
    count(CASE WHEN state = 'missing' THEN 1 END) AS missing,
    count(CASE WHEN state = 'invalid' THEN 1 END) AS invalid,
    count(CASE WHEN state IN ('outlier', 'constant') THEN 1 END) AS skipped,
    CAST(0 AS BIGINT) AS unexpected,
    count(CASE WHEN state = 'duplicate' THEN 1 END) AS duplicate
FROM items
GROUP BY level, item
ORDER BY metric, level, item
