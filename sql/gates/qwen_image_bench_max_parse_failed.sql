-- name: max_parse_failed
-- question: What share of each model's replies could not be read?
-- grain: one model, revision, judge and language
-- key: what
-- output: gate
SELECT
    concat_ws(' ', model, nullif(model_revision, ''), nullif(judge, ''), lang) AS what,
    CAST(count(CASE WHEN outcome = 'parse_failed' THEN 1 END) AS DOUBLE) / count(*) AS value
FROM replies
WHERE NOT is_set_aside AND outcome <> 'missing'
GROUP BY model, model_revision, judge, lang
ORDER BY what
