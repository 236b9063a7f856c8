-- name: f1_of_precision_and_recall
-- question: Is F1 the harmonic mean of precision and recall?
-- grain: one row that is no macro mean
-- key: line, figure
-- output: consistency
-- needs: label, precision, recall, f1
-- Both are taken half a unit of their last digits lower and higher; macro F1 is a mean of F1s, and no harmonic mean.
WITH bounds AS (
    SELECT
        line,
        label,
        f1,
        f1_half,
        greatest(precision - precision_half, 0.0) AS p_low,
        precision + precision_half AS p_high,
        greatest(recall - recall_half, 0.0) AS r_low,
        recall + recall_half AS r_high
    FROM published
    WHERE label <> 'macro' AND precision IS NOT NULL AND recall IS NOT NULL AND f1 IS NOT NULL
)

SELECT
    line,
    label AS row,
    'f1' AS figure,
    f1 AS printed,
    CASE WHEN p_low + r_low > 0.0 THEN 2.0 * p_low * r_low / (p_low + r_low) ELSE 0.0 END - f1_half - 1e-9 AS low,
    2.0 * p_high * r_high / (p_high + r_high) + f1_half + 1e-9 AS high
FROM bounds
ORDER BY line
