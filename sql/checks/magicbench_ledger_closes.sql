-- name: ledger_closes
-- question: Does every row of the ledger close, and hold as many valid records as the board?
-- grain: one row that does not
-- key: model, model_revision, judge, level, item
-- output: check
SELECT l.model, l.model_revision, l.judge, l.level, l.item, l.expected, l.ok, b.n_valid
FROM ledger AS l
LEFT JOIN leaderboard AS b
    ON l.model = b.model AND l.model_revision = b.model_revision AND l.judge = b.judge AND l.level = 'all'
WHERE l.expected <> l.ok + l.missing + l.invalid + l.parse_failed + l.skipped OR l.ok <> coalesce(b.n_valid, l.ok)
ORDER BY l.model, l.model_revision, l.judge, l.level, l.item
