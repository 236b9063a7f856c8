-- name: accuracy_reachable
-- question: Does some number of pairs give each accuracy?
-- grain: one accuracy
-- key: line, figure
-- output: consistency
-- needs: metric, dataset, pairs, accuracy
WITH bounds AS (
    SELECT
        line,
        concat(metric, ' / ', dataset) AS row,
        accuracy,
        greatest(ceil((accuracy - accuracy_half - 1e-9) * pairs), 0.0)
        <= least(floor((accuracy + accuracy_half + 1e-9) * pairs), pairs) AS is_reached
    FROM published
    WHERE accuracy IS NOT NULL AND pairs IS NOT NULL
)

SELECT
    line,
    row,
    'accuracy' AS figure,
    accuracy AS printed,
    CASE WHEN is_reached THEN accuracy END AS low,
    CASE WHEN is_reached THEN accuracy END AS high
FROM bounds
ORDER BY line
