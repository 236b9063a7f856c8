-- name: detection
-- question: How well does each assessor find each label?
-- grain: one label, or a mean over labels, of one assessor
-- key: assessor, model_revision, level, label
-- output: table
-- precision = tp / (tp + fp), recall = tp / (tp + fn), f1 = 2 tp / (2 tp + fp + fn). macro is the unweighted mean of each over the four main
-- level-2 labels (of f1 the mean of the four, not the harmonic mean of the means); micro is of the summed counts.
WITH measures AS (
    SELECT
        *,
        CAST(tp AS DOUBLE) / nullif(tp + fp, 0) AS precision,
        CAST(tp AS DOUBLE) / nullif(tp + fn, 0) AS recall,
        CAST(2 * tp AS DOUBLE) / nullif(2 * tp + fp + fn, 0) AS f1
    FROM label_cells
),

single AS (
    SELECT
        assessor, model_revision, level, label, position, n, n_invalid, tp, fp, fn, support, predicted, precision, recall, f1,
        CAST(n - fp - fn AS DOUBLE) / nullif(n, 0) AS accuracy,
        CAST(2 * support AS DOUBLE) / nullif(n + support, 0) AS f1_always,
        concat_ws(
            ',',
            CASE WHEN precision IS NULL THEN 'precision' END,
            CASE WHEN recall IS NULL THEN 'recall' END,
            CASE WHEN f1 IS NULL THEN 'f1' END
        ) AS undefined
    FROM measures
),

macro AS (
    SELECT
        assessor, model_revision, 'macro' AS level, 'macro' AS label, CAST(-2 AS BIGINT) AS position,
        max(n) AS n, max(n_invalid) AS n_invalid,
        CAST(NULL AS BIGINT) AS tp, CAST(NULL AS BIGINT) AS fp, CAST(NULL AS BIGINT) AS fn,
        CAST(NULL AS BIGINT) AS support, CAST(NULL AS BIGINT) AS predicted,
        exact_avg(CASE WHEN $zero_division = 'zero' THEN coalesce(precision, 0.0) ELSE precision END) AS precision,
        exact_avg(CASE WHEN $zero_division = 'zero' THEN coalesce(recall, 0.0) ELSE recall END) AS recall,
        exact_avg(CASE WHEN $zero_division = 'zero' THEN coalesce(f1, 0.0) ELSE f1 END) AS f1,
        CAST(NULL AS DOUBLE) AS accuracy,
        CAST(NULL AS DOUBLE) AS f1_always,
        concat_ws(
            ',',
            CASE WHEN count(precision) < count(*) THEN concat('precision of ', count(*) - count(precision)) END,
            CASE WHEN count(recall) < count(*) THEN concat('recall of ', count(*) - count(recall)) END,
            CASE WHEN count(f1) < count(*) THEN concat('f1 of ', count(*) - count(f1)) END
        ) AS undefined
    FROM measures
    WHERE main = 'yes'
    GROUP BY assessor, model_revision
),

sums AS (
    SELECT
        assessor, model_revision, max(n) AS n, max(n_invalid) AS n_invalid,
        sum(tp) AS tp, sum(fp) AS fp, sum(fn) AS fn, sum(support) AS support, sum(predicted) AS predicted
    FROM label_cells
    WHERE main = 'yes'
    GROUP BY assessor, model_revision
),

micro AS (
    SELECT
        assessor, model_revision, 'micro' AS level, 'micro' AS label, CAST(-1 AS BIGINT) AS position,
        n, n_invalid, tp, fp, fn, support, predicted,
        CAST(tp AS DOUBLE) / nullif(tp + fp, 0) AS precision,
        CAST(tp AS DOUBLE) / nullif(tp + fn, 0) AS recall,
        CAST(2 * tp AS DOUBLE) / nullif(2 * tp + fp + fn, 0) AS f1,
        CAST(NULL AS DOUBLE) AS accuracy,
        CAST(NULL AS DOUBLE) AS f1_always,
        concat_ws(
            ',',
            CASE WHEN tp + fp = 0 THEN 'precision' END,
            CASE WHEN tp + fn = 0 THEN 'recall' END,
            CASE WHEN 2 * tp + fp + fn = 0 THEN 'f1' END
        ) AS undefined
    FROM sums
),

measured AS (
    SELECT * FROM single
    UNION ALL
    SELECT * FROM macro
    UNION ALL
    SELECT * FROM micro
)

SELECT
    assessor,
    level,
    label,
    n,
    n_invalid,
    tp,
    fp,
    fn,
    support,
    predicted,
    CASE WHEN $zero_division = 'zero' THEN coalesce(precision, 0.0) ELSE precision END AS precision,
    CASE WHEN $zero_division = 'zero' THEN coalesce(recall, 0.0) ELSE recall END AS recall,
    CASE WHEN $zero_division = 'zero' THEN coalesce(f1, 0.0) ELSE f1 END AS f1,
    accuracy,
    f1_always,
    undefined,
    position,
    model_revision
FROM measured
ORDER BY assessor, model_revision, position, level, label
