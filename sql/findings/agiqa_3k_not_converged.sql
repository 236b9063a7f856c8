-- name: not_converged
-- question: How many logistic fits did not converge?
-- grain: the lake
-- key: n
-- output: finding
SELECT count(CASE WHEN NOT converged THEN 1 END) AS n, CAST(count(converged) AS VARCHAR) AS detail
FROM agreement
ORDER BY n
