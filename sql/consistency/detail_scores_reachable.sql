-- name: detail_scores_reachable
-- question: Does some number of at most 100 images give each share?
-- grain: one share of one model
-- key: line, figure
-- output: consistency
-- needs: model, human_single, human_double, human_multi, animal_single, animal_multi, object_single, object_multi, object_compo
WITH figures AS (
    SELECT line, model, 'human_single' AS figure, human_single AS value, human_single_half AS half, 100 AS most FROM published
    UNION ALL
    SELECT line, model, 'human_double' AS figure, human_double AS value, human_double_half AS half, 100 AS most FROM published
    UNION ALL
    SELECT line, model, 'human_multi' AS figure, human_multi AS value, human_multi_half AS half, 100 AS most FROM published
    UNION ALL
    SELECT line, model, 'animal_single' AS figure, animal_single AS value, animal_single_half AS half, 100 AS most FROM published
    UNION ALL
    SELECT line, model, 'animal_multi' AS figure, animal_multi AS value, animal_multi_half AS half, 100 AS most FROM published
    UNION ALL
    SELECT line, model, 'object_single' AS figure, object_single AS value, object_single_half AS half, 100 AS most FROM published
    UNION ALL
    SELECT line, model, 'object_multi' AS figure, object_multi AS value, object_multi_half AS half, 100 AS most FROM published
    UNION ALL
    SELECT line, model, 'object_compo' AS figure, object_compo AS value, object_compo_half AS half, 100 AS most FROM published
),

-- Whole numbers of images that give the figure, of n: from the first above its lower to the last below its upper bound.
reached AS (
    SELECT f.line, f.figure
    FROM figures AS f
    CROSS JOIN (SELECT value AS n FROM generate_series(1, 100)) AS s
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
