-- name: agreement
-- question: What does each metric, and what do people, say of each image?
-- grain: one image for one metric and one human score, in all and by generator
-- key: scope, model, model_revision, judge, item, unit
-- output: sample
WITH pairs AS (
    SELECT p.metric, 'quality' AS target, g.group_kind, g.group_name, g.name, p.value AS x, g.mos_quality AS y
    FROM groups AS g
    JOIN predictions AS p ON g.name = p.name
    UNION ALL
    SELECT p.metric, 'align' AS target, g.group_kind, g.group_name, g.name, p.value AS x, g.mos_align AS y
    FROM groups AS g
    JOIN predictions AS p ON g.name = p.name
    UNION ALL
    SELECT 'mos_quality' AS metric, 'align' AS target, group_kind, group_name, name, mos_quality AS x, mos_align AS y
    FROM groups
)

SELECT
    '' AS scope,
    metric AS model,
    '' AS model_revision,
    '' AS judge,
    concat(target, ' / ', group_kind, ' / ', group_name) AS item,
    name AS unit,
    x,
    y
FROM pairs
WHERE group_kind IN ('all', 'generator') AND x IS NOT NULL AND y IS NOT NULL
