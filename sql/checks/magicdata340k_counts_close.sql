-- name: counts_close
-- question: Does every label of every assessor close: support, predicted, and no more outcomes than images?
-- grain: one row that does not
-- key: place, assessor, item
-- output: check
WITH faults AS (
    SELECT 'detection' AS place, assessor, label AS item
    FROM detection
    WHERE tp + fn <> support OR tp + fp <> predicted OR support > n OR predicted > n
    UNION ALL
    SELECT 'ledger' AS place, assessor, concat(level, ' ', item) AS item
    FROM ledger
    WHERE missing < 0 OR expected <> ok + missing + invalid + parse_failed + skipped
)

SELECT place, assessor, item
FROM faults
ORDER BY place, assessor, item
