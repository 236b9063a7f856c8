-- name: scores
-- question: Which shares are the cells of the board?
-- grain: one cell of the board
-- key: scope, model, model_revision, judge, item, statistic
-- output: sample
-- Flags of any class can outnumber the records of a class; then there is no proportion. Only where scores are shares of what was counted:
-- other denominators have no observations behind them.
WITH bases AS (
    SELECT
        *,
        CASE WHEN $class_flags = 'own' THEN own_human ELSE with_human END AS flags_human,
        CASE WHEN $class_flags = 'own' THEN own_animal ELSE with_animal END AS flags_animal,
        CASE WHEN $class_flags = 'own' THEN own_object ELSE with_object END AS flags_object
    FROM counts
    WHERE $denominators = 'valid' AND $flags_of = 'valid'
),

cells AS (
    SELECT model, model_revision, judge, 'human' AS statistic, flags_human AS flags, n_human AS n FROM bases
    UNION ALL
    SELECT model, model_revision, judge, 'animal' AS statistic, flags_animal AS flags, n_animal AS n FROM bases
    UNION ALL
    SELECT model, model_revision, judge, 'object' AS statistic, flags_object AS flags, n_object AS n FROM bases
    UNION ALL
    SELECT model, model_revision, judge, 'interaction' AS statistic, with_interaction AS flags, n_valid AS n FROM bases
)

SELECT '' AS scope, model, model_revision, judge, '' AS item, statistic, n - flags AS successes, n, 100.0 AS scale
FROM cells
WHERE n > 0
