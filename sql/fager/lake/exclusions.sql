-- name: exclusions
-- question: Which indices do lists of exclusions name?
-- grain: one index
-- key: collection, prompt_index
-- output: view
SELECT DISTINCT collection, prompt_index
FROM fager_parts.exclusions
