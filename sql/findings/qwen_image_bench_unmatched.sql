-- name: unmatched
-- question: Which prompts have replies but no metadata, while others have metadata?
-- grain: the lake
-- key: n
-- output: finding
WITH known AS (
    SELECT prompt_id
    FROM prompts
    WHERE has_metadata
),

unmatched AS (
    SELECT DISTINCT r.prompt_id
    FROM replies AS r
    LEFT ANTI JOIN known AS k ON r.prompt_id = k.prompt_id
    WHERE (SELECT count(*) FROM known) > 0
),

examples AS (
    SELECT prompt_id
    FROM unmatched
    ORDER BY prompt_id
    LIMIT 5
)

SELECT
    (SELECT count(*) FROM unmatched) AS n,
    coalesce(string_agg(CAST(prompt_id AS TEXT), ', ' ORDER BY prompt_id), '') AS detail
FROM examples
ORDER BY n
