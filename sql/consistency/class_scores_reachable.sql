-- name: class_scores_reachable
-- question: Does some number of at most 800 images give each share?
-- grain: one share of one model
-- key: line, figure
-- output: consistency
-- needs: model, interaction, human, animal, object, overall
WITH figures AS (
    SELECT line, model, 'interaction' AS figure, interaction AS value, interaction_half AS half, 800 AS most FROM published
    UNION ALL
    SELECT line, model, 'human' AS figure, human AS value, human_half AS half, 300 AS most FROM published
    UNION ALL
    SELECT line, model, 'animal' AS figure, animal AS value, animal_half AS half, 200 AS most FROM published
    UNION ALL
    SELECT line, model, 'object' AS figure, object AS value, object_half AS half, 300 AS most FROM published
    UNION ALL
    SELECT line, model, 'overall' AS figure, overall AS value, overall_half AS half, 800 AS most FROM published
),

-- Whole numbers of images that give the figure, of n: from the first above its lower to the last below its upper bound.
reached AS (
    SELECT f.line, f.figure
    FROM figures AS f
    CROSS JOIN (SELECT value AS n FROM generate_series(1, 800)) AS s
    WHERE
        s.n <= f.most
        AND least(floor((f.value + f.half + 1e-9) * s.n / 100.0), s.n)
        >= greatest(ceil((f.value - f.half - 1e-9) * s.n / 100.0), 0.0)
    GROUP BY f.line, f.figure
)

SELECT
    f.line,
    f.model AS row,
    f.figure,
    f.value AS printed,
    CASE WHEN r.line IS NOT NULL THEN f.value END AS low,
    CASE WHEN r.line IS NOT NULL THEN f.value END AS high
FROM figures AS f
LEFT JOIN reached AS r ON f.line = r.line AND f.figure = r.figure
WHERE f.value IS NOT NULL
ORDER BY f.line, f.figure
