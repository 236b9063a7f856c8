-- name: detection
-- question: How often does each pair of labels and prediction occur?
-- grain: one label of one pair of label sets
-- key: scope, model, model_revision, judge, pattern, item
-- output: sample
WITH patterns AS (
    SELECT assessor, model_revision, gold, mask, sum(n) AS n
    FROM read_patterns
    WHERE n > 0
    GROUP BY assessor, model_revision, gold, mask
)

SELECT
    '' AS scope,
    p.assessor AS model,
    p.model_revision,
    '' AS judge,
    concat(p.gold, '/', p.mask) AS pattern,
    p.n,
    CASE WHEN i.level = i.label THEN i.label ELSE concat(i.level, ' / ', i.label) END AS item,
    CAST(i.main = 'yes' AS BIGINT) AS is_main,
    (p.gold >> i.position) & 1 AS has,
    (p.mask >> i.position) & 1 AS says,
    CAST($zero_division = 'zero' AS BIGINT) AS zero_division
FROM patterns AS p
CROSS JOIN items AS i
