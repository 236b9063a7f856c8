-- name: macro_is_mean
-- question: Is macro the mean of the level-2 labels?
-- grain: one macro figure of one assessor
-- key: line, figure
-- output: consistency
-- needs: assessor, label, precision, recall, f1
WITH figures AS (
    SELECT line, assessor, label, 'precision' AS figure, precision AS value, precision_half AS half FROM published
    UNION ALL
    SELECT line, assessor, label, 'recall' AS figure, recall AS value, recall_half AS half FROM published
    UNION ALL
    SELECT line, assessor, label, 'f1' AS figure, f1 AS value, f1_half AS half FROM published
),

means AS (
    SELECT assessor, figure, exact_avg(value) AS mean, exact_avg(half) AS half
    FROM figures
    WHERE label LIKE 'L2:%'
    GROUP BY assessor, figure
)

SELECT
    f.line,
    concat(f.assessor, ' / ', f.label) AS row,
    f.figure,
    f.value AS printed,
    m.mean - m.half - f.half - 1e-9 AS low,
    m.mean + m.half + f.half + 1e-9 AS high
FROM figures AS f
JOIN means AS m ON f.assessor = m.assessor AND f.figure = m.figure
WHERE f.label = 'macro'
ORDER BY f.line, f.figure
