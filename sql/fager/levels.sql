-- name: levels
-- question: What do the answers of each level add up to?
-- grain: one level of one image
-- key: collection, run, model_revision, judge, prompt_index, level
-- output: memory
-- yes is 1, no 0, unknown one half; halves is twice the sum. What is none of the three counts as unknown ($invalid_answers =
-- 'unknown', official) or not at all ('none', strict).
WITH readings AS (
    SELECT
        collection, run, model_revision, judge, prompt_index,
        level,
        answer,
        $invalid_answers = 'unknown' OR state = 'ok' AS is_used
    FROM answers
)

SELECT
    collection, run, model_revision, judge, prompt_index,
    level,
    sum(CASE answer WHEN 'yes' THEN 2 WHEN 'unknown' THEN 1 ELSE 0 END) AS halves,
    count(*) AS n,
    count(CASE WHEN answer = 'yes' THEN 1 END) AS n_yes,
    count(CASE WHEN answer = 'no' THEN 1 END) AS n_no,
    count(CASE WHEN answer = 'unknown' THEN 1 END) AS n_unknown
FROM readings
WHERE is_used
GROUP BY collection, run, model_revision, judge, prompt_index, level
