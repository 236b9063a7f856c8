-- name: prompts
-- question: What are the prompts of each collection?
-- grain: one prompt
-- key: collection, prompt_index
-- output: view
SELECT collection, prompt_index, max(prompt) AS prompt
FROM fager_parts.prompts
GROUP BY collection, prompt_index
