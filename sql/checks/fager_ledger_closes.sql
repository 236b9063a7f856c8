-- name: ledger_closes
-- question: Does every row of the ledger close?
-- grain: one row that does not
-- key: collection, run, model_revision, judge, level, item
-- output: check
SELECT collection, run, model_revision, judge, level, item, expected, ok, missing
FROM ledger
WHERE expected <> ok + missing + invalid + parse_failed + skipped
ORDER BY collection, run, model_revision, judge, level, item
