-- name: unreadable_assessments
-- question: Which assessments of MagicBench do not count, and why?
-- grain: one reason of one model
-- key: model, outcome, reason
-- output: explore
SELECT model, outcome, coalesce(reason, '') AS reason, count(*) AS n
FROM magicbench.assessments
WHERE outcome <> 'ok'
GROUP BY model, outcome, reason
ORDER BY model, n DESC, outcome, reason
