-- name: prompt_texts_differ
-- question: On how many prompts do the prompts and the questions have different texts?
-- grain: the lake
-- key: n
-- output: finding
WITH differing AS (
    SELECT DISTINCT q.collection, q.prompt_index
    FROM questions AS q
    JOIN prompts AS p ON q.collection = p.collection AND q.prompt_index = p.prompt_index
    WHERE q.prompt <> p.prompt
)

SELECT
    count(*) AS n,
    coalesce(string_agg(concat(collection, ' ', prompt_index), ', ' ORDER BY collection, prompt_index), '') AS detail
FROM differing
ORDER BY n
