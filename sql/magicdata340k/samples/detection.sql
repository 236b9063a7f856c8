-- name: detection
-- question: How often does each pair of labels and prediction occur?
-- grain: one label of one pair of label sets
-- key: scope, model, model_revision, judge, pattern, item
-- output: sample
-- Unusable predictions count as the protocol has them: left out, or as predicting nothing.
WITH readings AS (
    SELECT
        assessor,
        model_revision,
        gold,
        n,
        CASE WHEN $reading = 'exact' THEN exact_outcome ELSE keywords_outcome END AS outcome,
        CASE WHEN $reading = 'exact' THEN exact_mask ELSE keywords_mask END AS mask
    FROM outcome_patterns
    WHERE exact_outcome <> 'missing'
),

patterns AS (
    SELECT assessor, model_revision, gold, coalesce(mask, 0) AS mask, sum(n) AS n
    FROM readings
    WHERE outcome = 'ok' OR $unusable = 'nothing'
    GROUP BY assessor, model_revision, gold, coalesce(mask, 0)
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
