-- name: conflicts
-- question: Which prompts have different texts in two files of prompts, or questions different categories?
-- grain: one place of one prompt
-- key: item, source, source_line
-- output: lake
-- Read when sources are published: any row is an error, whatever --on-error says.
WITH conflicting AS (
    SELECT collection, prompt_index
    FROM fager_parts.prompts
    GROUP BY collection, prompt_index
    HAVING min(prompt) <> max(prompt)
),

questions AS (
    SELECT collection, prompt_index, level, question
    FROM fager_parts.questions
    GROUP BY collection, prompt_index, level, question
    HAVING min(category) <> max(category)
)

SELECT
    concat('prompt ', p.prompt_index, ' of ', p.collection, ' has different texts') AS item,
    p.source,
    p.source_line
FROM fager_parts.prompts AS p
JOIN conflicting AS c ON p.collection = c.collection AND p.prompt_index = c.prompt_index
UNION ALL
SELECT
    concat('question `', substr(p.question, 1, 60), '` about prompt ', p.prompt_index, ' of ', p.collection,
        ' has different categories') AS item, 
    p.source,
    p.source_line
FROM fager_parts.questions AS p
JOIN questions AS c
    ON p.collection = c.collection AND p.prompt_index = c.prompt_index AND p.level = c.level AND p.question = c.question
ORDER BY item, source, source_line
