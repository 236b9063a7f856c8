-- name: gates
-- question: Which images are not evaluated beyond level 1?
-- grain: one image of a run
-- key: collection, run, model_revision, judge, prompt_index
-- output: memory
-- Without answers of level 1 its score is 0 with n = 0 ($no_level_1 = 'zero', official), or null ($no_level_1 = 'null', strict): then
-- neither gate nor score can be told.
WITH first AS (
    SELECT
        i.collection,
        i.run,
        i.model_revision,
        i.judge,
        i.prompt_index,
        CASE
            WHEN l.n > 0 THEN CAST(l.halves AS DOUBLE) / 2.0 / CAST(l.n AS DOUBLE) * 100.0
            WHEN $no_level_1 = 'zero' THEN 0.0
        END AS level_1
    FROM images AS i
    LEFT JOIN (SELECT * FROM levels WHERE level = 'level_1') AS l
        ON i.collection = l.collection AND i.run = l.run AND i.model_revision = l.model_revision AND i.judge = l.judge
        AND i.prompt_index = l.prompt_index
)

SELECT
    collection, run, model_revision, judge, prompt_index,
    level_1,
    CASE WHEN level_1 IS NULL THEN NULL ELSE level_1 <= $regenerate_threshold END AS is_gated
FROM first
