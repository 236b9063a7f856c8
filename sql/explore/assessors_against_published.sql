-- name: assessors_against_published
-- question: How do assessors in the lake compare with the published ones, label by label?
-- grain: one label of one assessor
-- key: label, assessor
-- output: explore
SELECT d.label, d.assessor, d.f1, d.n, 'lake' AS origin
FROM magicdata340k.detection AS d
WHERE d.label IN (SELECT label FROM published.magicdata340k_assessors)
UNION ALL
SELECT p.label, p.assessor, p.f1, CAST(NULL AS BIGINT) AS n, 'published' AS origin
FROM published.magicdata340k_assessors AS p
ORDER BY label, f1 DESC, assessor
