-- name: questions_that_fail
-- question: Which questions do generated images fail that real ones pass?
-- grain: one question of one generated run
-- key: collection, run, model_revision, judge, prompt_index, level, question
-- output: explore
SELECT DISTINCT
    g.collection,
    g.run,
    g.model_revision,
    g.judge,
    g.prompt_index,
    g.level,
    g.category,
    g.question
FROM fager.answers AS g
JOIN fager.answers AS r
    ON g.collection = r.collection AND g.judge = r.judge AND g.prompt_index = r.prompt_index AND g.level = r.level
    AND g.question = r.question
WHERE r.run = 'real' AND g.run <> 'real' AND r.answer = 'yes' AND g.answer = 'no'
ORDER BY collection, run, model_revision, judge, prompt_index, level, question
