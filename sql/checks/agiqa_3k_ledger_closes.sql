-- name: ledger_closes
-- question: Does every row of the ledger close?
-- grain: one row that does not
-- key: metric, level, item
-- output: check
SELECT metric, level, item, expected, ok, missing
FROM ledger
WHERE missing < 0 OR expected <> ok + missing + invalid + skipped
ORDER BY metric, level, item
