-- name: coefficients_in_range
-- question: Does every coefficient lie within -1 and 1, with a reason where there is none?
-- grain: one that does not
-- key: metric, target, group_kind, group_name
-- output: check
SELECT metric, target, group_kind, group_name, srcc, krcc, plcc, plcc_fitted, reason
FROM agreement
WHERE
    abs(srcc) > 1.0 OR abs(krcc) > 1.0 OR abs(plcc) > 1.0 OR abs(plcc_fitted) > 1.0
    OR (srcc IS NULL OR krcc IS NULL OR plcc IS NULL OR plcc_fitted IS NULL) AND reason IS NULL
ORDER BY metric, target, group_kind, group_name
