-- name: used_scores
-- question: Which scores enter means and comparisons?
-- grain: one score of one image
-- key: collection, run, model_revision, judge, prompt_index, score_name
-- output: memory
WITH named AS (
    SELECT collection, run, model_revision, judge, prompt_index, 'overall' AS score_name, overall AS score FROM image_scores
    UNION ALL
    SELECT collection, run, model_revision, judge, prompt_index, 'level_1' AS score_name, level_1 AS score FROM image_scores
    UNION ALL
    SELECT collection, run, model_revision, judge, prompt_index, 'level_2' AS score_name, level_2 AS score FROM image_scores
    UNION ALL
    SELECT collection, run, model_revision, judge, prompt_index, 'level_3' AS score_name, level_3 AS score FROM image_scores
)

SELECT
    collection, run, model_revision, judge, prompt_index,
    score_name,
    score AS unrounded,
    CASE WHEN $rounding = 'two_decimals' THEN python_round2(score) ELSE score END AS score
FROM named
WHERE score IS NOT NULL
