-- name: metrics_that_agree
-- question: Which metric agrees best with people, over all images and within generators?
-- grain: one metric and human score
-- key: target, metric
-- output: explore
SELECT
    target,
    metric,
    direction,
    max(CASE WHEN group_kind = 'all' THEN srcc END) AS srcc_all,
    min(CASE WHEN group_kind = 'generator' THEN srcc END) AS srcc_least_of_generators,
    max(CASE WHEN group_kind = 'generator' THEN srcc END) AS srcc_greatest_of_generators
FROM agiqa_3k.agreement
GROUP BY target, metric, direction
ORDER BY target, abs(srcc_all) DESC NULLS LAST, metric
