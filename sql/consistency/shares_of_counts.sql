-- name: shares_of_counts
-- question: Is each label's share of the artifact images that of the published counts?
-- grain: one share
-- key: line, figure
-- output: consistency
-- needs: label, percent_of_artifacts
WITH shares AS (
    SELECT c.label, 100.0 * c.total / a.total AS percent
    FROM published.magicdata340k_label_counts AS c
    CROSS JOIN (SELECT total FROM published.magicdata340k_label_counts WHERE label = 'Artifacts') AS a
)

SELECT
    p.line,
    p.label AS row,
    'percent_of_artifacts' AS figure,
    p.percent_of_artifacts AS printed,
    s.percent - p.percent_of_artifacts_half - 1e-9 AS low,
    s.percent + p.percent_of_artifacts_half + 1e-9 AS high
FROM published AS p
JOIN shares AS s ON p.label = s.label
ORDER BY p.line
