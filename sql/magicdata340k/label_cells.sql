-- name: label_cells
-- question: How often do labels and predictions agree about each label?
-- grain: one label of one assessor
-- key: assessor, model_revision, level, label
-- output: memory
WITH bits AS (
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
    FROM read_patterns AS s
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
