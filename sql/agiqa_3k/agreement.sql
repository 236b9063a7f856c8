-- name: agreement
-- question: How well does each metric agree with people, in each group?
-- grain: one metric against one human score in one group
-- key: metric, target, group_kind, group_name
-- output: table
-- krcc is tau-b. Coefficients keep their sign: of a metric of which lower values are better, a negative one is agreement.
WITH pairs AS (
    SELECT
        p.metric, 'quality' AS target, g.group_kind, g.group_name, p.value AS x, g.mos_quality AS y, p.lower_is_better
    FROM groups AS g
    JOIN predictions AS p ON g.name = p.name
    UNION ALL
    SELECT
        p.metric, 'align' AS target, g.group_kind, g.group_name, p.value AS x, g.mos_align AS y, p.lower_is_better
    FROM groups AS g
    JOIN predictions AS p ON g.name = p.name
    UNION ALL
    SELECT
        'mos_quality' AS metric, 'align' AS target, group_kind, group_name, mos_quality AS x, mos_align AS y,
        FALSE AS lower_is_better
    FROM groups
),

measured AS (
    SELECT
        metric,
        target,
        group_kind,
        group_name,
        agreement(x, y) AS a,
        bool_or(lower_is_better) AS lower_is_better
    FROM pairs
    GROUP BY metric, target, group_kind, group_name
)

SELECT
    metric,
    target,
    group_kind,
    group_name,
    a['n'] AS n,
    a['srcc'] AS srcc,
    a['krcc'] AS krcc,
    a['plcc'] AS plcc,
    a['plcc_fitted'] AS plcc_fitted,
    a['rmse'] AS rmse,
    a['beta1'] AS beta1,
    a['beta2'] AS beta2,
    a['beta3'] AS beta3,
    a['beta4'] AS beta4,
    a['beta5'] AS beta5,
    a['fit_start'] AS fit_start,
    a['iterations'] AS iterations,
    a['converged'] AS converged,
    CASE WHEN lower_is_better THEN 'lower is better' ELSE 'higher is better' END AS direction,
    a['reason'] AS reason
FROM measured
ORDER BY group_kind, group_name, target, metric
