-- name: rates_in_range
-- question: Does every rate and reward lie within its range?
-- grain: one that does not
-- key: place, item
-- output: check
WITH rates AS (
    SELECT 'detection precision' AS place, concat(assessor, ' ', label) AS item, precision AS rate FROM detection
    UNION ALL
    SELECT 'detection recall' AS place, concat(assessor, ' ', label) AS item, recall AS rate FROM detection
    UNION ALL
    SELECT 'detection f1' AS place, concat(assessor, ' ', label) AS item, f1 AS rate FROM detection
    UNION ALL
    SELECT 'artifact_rates' AS place, generator AS item, rate FROM artifact_rates
    UNION ALL
    SELECT 'label_shares' AS place, label AS item, share_of_images AS rate FROM label_shares
)

SELECT place, item, rate
FROM rates
WHERE rate < 0.0 OR rate > 1.0
ORDER BY place, item
