-- name: prompts
-- question: What is known of each prompt, over all sources?
-- grain: one prompt
-- key: prompt
-- output: view
SELECT
    prompt,
    max(n_chars) AS n_chars,
    max(subject) AS subject,
    max(class) AS class,
    max(class_read) AS class_read,
    max(detail_class) AS detail_class
FROM magicbench_parts.prompts
GROUP BY prompt
