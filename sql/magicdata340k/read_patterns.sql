-- name: read_patterns
-- question: What does the protocol's reading make of each pair of labels and prediction?
-- grain: one pair of label sets of one assessor, split and outcome
-- key: assessor, model_revision, gold, mask
-- output: view
-- A prediction without a text is none. An unusable one is left out with its labels ($unusable = 'out'), or counts as predicting nothing ($unusable = 'nothing').
WITH readings AS (
    SELECT
        assessor,
        model_revision,
        gold,
        n,
        CASE WHEN $reading = 'exact' THEN exact_outcome ELSE keywords_outcome END AS outcome,
        CASE WHEN $reading = 'exact' THEN exact_mask ELSE keywords_mask END AS mask
    FROM outcome_patterns
    WHERE exact_outcome <> 'missing'
)

SELECT
    assessor,
    model_revision,
    gold,
    coalesce(mask, 0) AS mask,
    CASE WHEN outcome = 'ok' OR $unusable = 'nothing' THEN n ELSE 0 END AS n,
    CASE WHEN outcome = 'ok' THEN 0 ELSE n END AS n_invalid
FROM readings
