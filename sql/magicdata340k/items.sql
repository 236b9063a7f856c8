-- name: items
-- question: Which labels are counted?
-- grain: one label
-- key: level, label
-- output: memory
-- position is the bit of the label in a set; parent is that of its level-2 label.
SELECT 'artifact' AS level, 'artifact' AS label, CAST(0 AS BIGINT) AS position, 'no' AS main, CAST(0 AS BIGINT) AS parent
UNION ALL
SELECT t.level, t.label, t.position, t.main, p.position AS parent
FROM taxonomy AS t
JOIN taxonomy AS p ON t.l2 = p.label
