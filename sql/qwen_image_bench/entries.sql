-- name: entries
-- question: Which models, revisions, judges and languages are there?
-- grain: one model, revision, judge and language
-- key: model, model_revision, judge, lang
-- output: memory
SELECT DISTINCT model, model_revision, judge, lang
FROM replies
