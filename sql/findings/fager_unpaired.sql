-- name: unpaired
-- question: Which runs are compared with no reference run?
-- grain: the lake
-- key: n
-- output: finding
WITH runs AS (
    SELECT collection, run FROM images
    UNION
    SELECT collection, run FROM scores
),

unpaired AS (
    SELECT r.collection, r.run
    FROM runs AS r
    LEFT ANTI JOIN ab_accuracy AS a ON r.collection = a.collection AND r.run = a.generated_run
    WHERE r.run <> $reference_run
)

SELECT count(*) AS n, coalesce(string_agg(concat(collection, '/', run), ', ' ORDER BY collection, run), '') AS detail
FROM unpaired
ORDER BY n
