-- name: artifact_rates
-- question: Which generators make artifacts most often?
-- grain: one generator
-- key: generator
-- output: table
-- The generator is what the record or the path says, else the side table; images without one are in no row.
WITH made AS (
    SELECT coalesce(g.generator, s.generator) AS generator, g.labels_mask & 1 AS is_artifact
    FROM gold AS g
    LEFT JOIN (SELECT image, max(generator) AS generator FROM generators GROUP BY image) AS s ON g.image = s.image
)

SELECT
    generator,
    count(*) AS n,
    sum(is_artifact) AS artifacts,
    CAST(sum(is_artifact) AS DOUBLE) / count(*) AS rate
FROM made
WHERE generator IS NOT NULL
GROUP BY generator
ORDER BY generator
