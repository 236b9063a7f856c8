-- name: ranks_follow_scores
-- question: Are the ranks those of the scores?
-- grain: one model
-- key: line, figure
-- output: consistency
-- needs: rank, model, overall
-- Scores that print alike may stand in any order.
SELECT
    a.line,
    a.model AS row,
    'rank' AS figure,
    a.rank AS printed,
    CAST(1 + count(CASE WHEN b.overall - b.overall_half > a.overall + a.overall_half + 1e-9 THEN 1 END) AS DOUBLE) AS low,
    CAST(count(CASE WHEN b.overall + b.overall_half >= a.overall - a.overall_half - 1e-9 THEN 1 END) AS DOUBLE) AS high
FROM published AS a
CROSS JOIN published AS b
WHERE a.rank IS NOT NULL AND a.overall IS NOT NULL
GROUP BY a.line, a.model, a.rank, a.overall, a.overall_half
ORDER BY a.line
