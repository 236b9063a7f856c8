-- name: gold_patterns
-- question: Which sets of labels occur, and how often?
-- grain: one set of labels of one split
-- key: split, labels_mask
-- output: memory
SELECT split, labels_mask, count(*) AS n
FROM gold
GROUP BY split, labels_mask
