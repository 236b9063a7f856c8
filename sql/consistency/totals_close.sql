-- name: totals_close
-- question: Is the total what train and test add up to?
-- grain: one row
-- key: line, figure
-- output: consistency
-- needs: label, total, train, test
SELECT line, label AS row, 'total' AS figure, total AS printed, train + test AS low, train + test AS high
FROM published
WHERE total IS NOT NULL AND train IS NOT NULL AND test IS NOT NULL
ORDER BY line
