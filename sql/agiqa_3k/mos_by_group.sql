-- name: mos_by_group
-- question: How do people rate the images of each group?
-- grain: one group of images and one human score
-- key: group_kind, group_name, target
-- output: table
-- sd is the sample standard deviation, in two passes: squares of distances from the exact mean.
WITH scores AS (
    SELECT group_kind, group_name, 'quality' AS target, mos_quality AS mos FROM groups WHERE mos_quality IS NOT NULL
    UNION ALL
    SELECT group_kind, group_name, 'align' AS target, mos_align AS mos FROM groups WHERE mos_align IS NOT NULL
),

means AS (
    SELECT group_kind, group_name, target, count(*) AS n, exact_avg(mos) AS mean
    FROM scores
    GROUP BY group_kind, group_name, target
),

squares AS (
    SELECT s.group_kind, s.group_name, s.target, exact_sum((s.mos - m.mean) * (s.mos - m.mean)) AS sum_of_squares
    FROM scores AS s
    JOIN means AS m ON s.group_kind = m.group_kind AND s.group_name = m.group_name AND s.target = m.target
    GROUP BY s.group_kind, s.group_name, s.target
),

ranges AS (
    SELECT
        group_kind,
        group_name,
        target,
        min(mos) AS minimum,
        median(mos) AS median,
        max(mos) AS maximum
    FROM scores
    GROUP BY group_kind, group_name, target
)

SELECT
    m.group_kind,
    m.group_name,
    m.target,
    m.n,
    m.mean,
    CASE WHEN m.n > 1 THEN sqrt(q.sum_of_squares / (m.n - 1)) END AS sd,
    r.minimum,
    r.median,
    r.maximum
FROM means AS m
JOIN squares AS q ON m.group_kind = q.group_kind AND m.group_name = q.group_name AND m.target = q.target
JOIN ranges AS r ON m.group_kind = r.group_kind AND m.group_name = r.group_name AND m.target = r.target
ORDER BY m.group_kind, m.group_name, m.target
