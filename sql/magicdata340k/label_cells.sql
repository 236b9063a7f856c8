-- name: label_cells
-- question: How often do labels and predictions agree about each label?
-- grain: one label of one assessor
-- key: assessor, model_revision, level, label
-- output: memory
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
),

scored AS (
    SELECT
        assessor,
        model_revision,
        gold,
        coalesce(mask, 0) AS mask,
        CASE WHEN outcome = 'ok' OR $unusable = 'nothing' THEN n ELSE 0 END AS n,
        CASE WHEN outcome = 'ok' THEN 0 ELSE n END AS n_invalid
    FROM readings
),

bits AS (
    SELECT
        s.assessor,
        s.model_revision,
        i.level,
        i.label,
        i.position,
        i.main,
        s.n,
        s.n_invalid,
        (s.gold >> i.position) & 1 AS has,
        (s.mask >> i.position) & 1 AS says
    FROM scored AS s
    CROSS JOIN items AS i
)

SELECT
    assessor,
    model_revision,
    level,
    label,
    position,
    main,
    sum(n) AS n,
    sum(n_invalid) AS n_invalid,
    sum(n * has * says) AS tp,
    sum(n * (1 - has) * says) AS fp,
    sum(n * has * (1 - says)) AS fn,
    sum(n * has) AS support,
    sum(n * says) AS predicted
FROM bits
GROUP BY assessor, model_revision, level, label, position, main
