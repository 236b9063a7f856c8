-- name: scores
-- question: Which shares are the cells of the board?
-- grain: one cell of the board
-- key: scope, model, model_revision, judge, item, statistic
-- output: sample
-- Flags of any class can outnumber the records of a class; then there is no proportion.
WITH bases AS (
    SELECT
        *,
        $denominators = 'nominal' AS is_nominal,
        CASE WHEN $class_flags = 'own' THEN own_human ELSE with_human END AS flags_human,
        CASE WHEN $class_flags = 'own' THEN own_animal ELSE with_animal END AS flags_animal,
        CASE WHEN $class_flags = 'own' THEN own_object ELSE with_object END AS flags_object
    FROM counts
),

cells AS (
    SELECT
        model, model_revision, judge, 'human' AS statistic, flags_human AS flags,
        CASE WHEN NOT is_nominal THEN n_human WHEN n_human + own_human > 0 THEN $nominal_human ELSE 0 END AS n
    FROM bases
    UNION ALL
    SELECT
        model, model_revision, judge, 'animal' AS statistic, flags_animal AS flags,
        CASE WHEN NOT is_nominal THEN n_animal WHEN n_animal + own_animal > 0 THEN $nominal_animal ELSE 0 END AS n
    FROM bases
    UNION ALL
    SELECT
        model, model_revision, judge, 'object' AS statistic, flags_object AS flags,
        CASE WHEN NOT is_nominal THEN n_object WHEN n_object + own_object > 0 THEN $nominal_object ELSE 0 END AS n
    FROM bases
    UNION ALL
    SELECT
        model, model_revision, judge, 'interaction' AS statistic, with_interaction AS flags,
        CASE WHEN NOT is_nominal THEN n_valid WHEN n_valid + with_artifact > 0 THEN $nominal_all ELSE 0 END AS n
    FROM bases
)

SELECT '' AS scope, model, model_revision, judge, '' AS item, statistic, n - flags AS successes, n, 100.0 AS scale
FROM cells
WHERE n > 0
