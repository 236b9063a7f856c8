-- name: questions
-- question: Which questions does each collection ask?
-- grain: one question about a prompt
-- key: collection, prompt_index, level, question
-- output: view
SELECT
    collection,
    prompt_index,
    level,
    question,
    max(category) AS category,
    max(importance) AS importance,
    max(gold_answer) AS gold_answer,
    max(prompt) AS prompt
FROM fager_parts.questions
GROUP BY collection, prompt_index, level, question
