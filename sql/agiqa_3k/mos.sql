-- name: mos
-- question: What is the mean opinion score of each rated item?
-- grain: one item and what was rated of it
-- key: target, item
-- output: table
-- MOS = max(floor, offset + scale * mean of the standardised ratings).
WITH means AS (
    SELECT target, item, exact_avg(z) AS mean, count(z) AS n, count(*) - count(z) AS n_skipped
    FROM rated
    GROUP BY target, item
),

sessions AS (
    SELECT target, item, count(DISTINCT session) AS n_sessions
    FROM rated
    WHERE z IS NOT NULL
    GROUP BY target, item
),

squares AS (
    SELECT r.target, r.item, exact_sum((r.z - m.mean) * (r.z - m.mean)) AS sum_of_squares
    FROM rated AS r
    JOIN means AS m ON r.target = m.target AND r.item = m.item
    GROUP BY r.target, r.item
),

scored AS (
    SELECT
        m.target,
        m.item,
        $offset + $scale * m.mean AS mos,
        CASE WHEN m.n > 1 THEN $scale * sqrt(q.sum_of_squares / (m.n - 1)) END AS sd,
        m.n,
        m.n_skipped,
        coalesce(s.n_sessions, 0) AS n_sessions
    FROM means AS m
    JOIN squares AS q ON m.target = q.target AND m.item = q.item
    LEFT JOIN sessions AS s ON m.target = s.target AND m.item = s.item
)

SELECT
    target,
    item,
    CASE WHEN mos < $floor THEN $floor ELSE mos END AS mos,
    sd,
    n,
    n_skipped,
    n_sessions,
    coalesce(mos < $floor, FALSE) AS is_floored
FROM scored
ORDER BY target, item
