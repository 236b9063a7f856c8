-- name: ledger
-- question: What became of each image and each prediction?
-- grain: the human scores or one metric, in all and by generator
-- key: metric, level, item
-- output: table
-- expected = ok + missing + invalid + skipped, for every row.
WITH expected AS (
    SELECT coalesce(generator, '(none)') AS generator, count(*) AS n
    FROM images
    GROUP BY coalesce(generator, '(none)')
),

scored AS (
    SELECT
        coalesce(generator, '(none)') AS generator,
        count(CASE WHEN mos_quality IS NOT NULL AND mos_align IS NOT NULL THEN 1 END) AS ok
    FROM images
    GROUP BY coalesce(generator, '(none)')
),

matched AS (
    SELECT p.metric, coalesce(i.generator, '(none)') AS generator, p.state, i.name IS NULL AS is_unexpected
    FROM predictions AS p
    LEFT JOIN images AS i ON p.name = i.name
),

found AS (
    SELECT
        metric,
        generator,
        count(CASE WHEN state = 'ok' AND NOT is_unexpected THEN 1 END) AS ok,
        count(CASE WHEN state = 'invalid' AND NOT is_unexpected THEN 1 END) AS invalid,
        count(CASE WHEN is_unexpected THEN 1 END) AS unexpected
    FROM matched
    GROUP BY metric, generator
),

aside AS (
    SELECT kind, s.metric, coalesce(i.generator, '(none)') AS generator, count(*) AS n
    FROM set_aside AS s
    LEFT JOIN images AS i ON s.name = i.name
    WHERE kind <> 'rating'
    GROUP BY kind, s.metric, coalesce(i.generator, '(none)')
),

cells AS (
    SELECT
        '' AS metric, e.generator, e.n AS expected, s.ok, CAST(0 AS BIGINT) AS invalid, CAST(0 AS BIGINT) AS unexpected,
        CAST(0 AS BIGINT) AS duplicate
    FROM expected AS e
    JOIN scored AS s ON e.generator = s.generator
    UNION ALL
    SELECT
        m.metric, e.generator, e.n AS expected, CAST(0 AS BIGINT) AS ok, CAST(0 AS BIGINT) AS invalid,
        CAST(0 AS BIGINT) AS unexpected, CAST(0 AS BIGINT) AS duplicate
    FROM expected AS e
    CROSS JOIN (SELECT DISTINCT metric FROM predictions) AS m
    UNION ALL
    SELECT
        metric, generator, CAST(0 AS BIGINT) AS expected, ok, invalid, unexpected, CAST(0 AS BIGINT) AS duplicate
    FROM found
    UNION ALL
    SELECT
        metric, generator, CAST(0 AS BIGINT) AS expected, CAST(0 AS BIGINT) AS ok, CAST(0 AS BIGINT) AS invalid,
        CAST(0 AS BIGINT) AS unexpected, n AS duplicate
    FROM aside
),

items AS (
    SELECT *, 'all' AS level, '' AS item FROM cells
    UNION ALL
    SELECT *, 'generator' AS level, generator AS item FROM cells
)

SELECT
    metric,
    level,
    item,
    sum(expected) AS expected,
    sum(ok) AS ok,
    sum(expected - ok - invalid) AS missing,
    sum(invalid) AS invalid,
    CAST(0 AS BIGINT) AS skipped,
    sum(unexpected) AS unexpected,
    sum(duplicate) AS duplicate
FROM items
GROUP BY metric, level, item
ORDER BY metric, level, item
