-- name: label_shares
-- question: How common is each label among the images?
-- grain: one label of people
-- key: level, label
-- output: table
WITH totals AS (
    SELECT sum(n) AS images, sum(n * (labels_mask & 1)) AS artifacts
    FROM gold_patterns
),

known AS (
    SELECT
        i.level,
        i.label,
        i.position,
        sum(p.n * ((p.labels_mask >> i.position) & 1)) AS n,
        sum(CASE WHEN p.split = 'train' THEN p.n * ((p.labels_mask >> i.position) & 1) ELSE 0 END) AS n_train,
        sum(CASE WHEN p.split = 'test' THEN p.n * ((p.labels_mask >> i.position) & 1) ELSE 0 END) AS n_test
    FROM gold_patterns AS p
    CROSS JOIN items AS i
    GROUP BY i.level, i.label, i.position
),

normal AS (
    SELECT
        sum(n * (1 - (labels_mask & 1))) AS n,
        sum(CASE WHEN split = 'train' THEN n * (1 - (labels_mask & 1)) ELSE 0 END) AS n_train,
        sum(CASE WHEN split = 'test' THEN n * (1 - (labels_mask & 1)) ELSE 0 END) AS n_test
    FROM gold_patterns
    HAVING count(*) > 0
),

unknown AS (
    SELECT
        level,
        label,
        count(*) AS n,
        count(CASE WHEN split = 'train' THEN 1 END) AS n_train,
        count(CASE WHEN split = 'test' THEN 1 END) AS n_test
    FROM (
        SELECT DISTINCT split, image, level, label
        FROM labels
        WHERE state = 'unknown' AND ($split = '' OR split = $split)
    ) AS written
    GROUP BY level, label
),

counts AS (
    SELECT 'l1' AS level, 'Normal' AS label, CAST(-1 AS BIGINT) AS position, n, n_train, n_test, TRUE AS is_known FROM normal
    UNION ALL
    SELECT
        CASE WHEN level = 'artifact' THEN 'l1' ELSE level END AS level,
        CASE WHEN level = 'artifact' THEN 'Artifacts' ELSE label END AS label,
        position, n, n_train, n_test, TRUE AS is_known
    FROM known
    UNION ALL
    SELECT level, label, CAST(1000 AS BIGINT) AS position, n, n_train, n_test, FALSE AS is_known FROM unknown
)

SELECT
    c.level,
    c.label,
    c.n,
    CAST(c.n AS DOUBLE) / nullif(t.images, 0) AS share_of_images,
    CASE WHEN c.label <> 'Normal' THEN CAST(c.n AS DOUBLE) / nullif(t.artifacts, 0) END AS share_of_artifacts,
    c.n_train,
    c.n_test,
    c.is_known,
    c.position
FROM counts AS c
CROSS JOIN totals AS t
ORDER BY c.level, c.position, c.label
