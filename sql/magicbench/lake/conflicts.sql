-- name: conflicts
-- question: Which prompts have different classes in two places?
-- grain: one place of one prompt
-- key: item, source, source_line
-- output: lake
-- Read when sources are published: any row is an error, whatever --on-error says.
WITH conflicting AS (
    SELECT prompt
    FROM magicbench_parts.prompts
    GROUP BY prompt
    HAVING min(coalesce(class, class_read)) <> max(coalesce(class, class_read)) OR min(detail_class) <> max(detail_class)
)

SELECT
    concat('prompt `', substr(p.prompt, 1, 60), '` has different classes') AS item,
    p.source,
    min(p.source_line) AS source_line
FROM magicbench_parts.prompts AS p
JOIN conflicting AS c ON p.prompt = c.prompt
GROUP BY p.prompt, p.source, p.class, p.class_read, p.detail_class
ORDER BY item, source, source_line
