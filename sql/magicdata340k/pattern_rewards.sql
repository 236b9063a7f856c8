-- name: pattern_rewards
-- question: What is the training reward of each pair of labels and prediction?
-- grain: one pair of label sets
-- key: gold, exact_outcome, exact_mask
-- output: memory
-- MagicMirror's training reward (arXiv 2509.10260), always by the exact reading: format, binary, level 2 and level 3, each 0 to 1. Without
-- format nothing counts; with the binary label wrong only the format does.
WITH pairs AS (
    SELECT DISTINCT gold, exact_outcome, coalesce(exact_mask, 0) AS mask
    FROM outcome_patterns
),

bits AS (
    SELECT
        p.gold,
        p.exact_outcome,
        p.mask,
        i.level,
        (p.gold >> i.position) & 1 AS has,
        (p.mask >> i.position) & 1 AS says,
        (p.gold >> i.parent) & (p.mask >> i.parent) & 1 AS parent_is_shared
    FROM pairs AS p
    CROSS JOIN items AS i
),

counts AS (
    SELECT
        gold,
        exact_outcome,
        mask,
        sum(CASE WHEN level = 'l2' THEN has * says ELSE 0 END) AS hits_2,
        sum(CASE WHEN level = 'l2' THEN has + says - 2 * has * says ELSE 0 END) AS faults_2,
        sum(CASE WHEN level = 'l3' THEN has * says * parent_is_shared ELSE 0 END) AS hits_3,
        sum(CASE WHEN level = 'l3' THEN (has + says - 2 * has * says) * parent_is_shared ELSE 0 END) AS faults_3
    FROM bits
    GROUP BY gold, exact_outcome, mask
),

parts AS (
    SELECT
        gold,
        exact_outcome,
        mask,
        exact_outcome = 'ok' AS is_formatted,
        exact_outcome = 'ok' AND (gold & 1) = (mask & 1) AS is_right,
        CASE
            WHEN hits_2 > 0 AND faults_2 = 0 THEN 1.0
            ELSE least(greatest($hit * CAST(hits_2 AS DOUBLE) - $fault * CAST(faults_2 AS DOUBLE), 0.0), 1.0)
        END AS raw_2,
        CASE
            WHEN hits_3 > 0 AND faults_3 = 0 THEN 1.0
            ELSE least(greatest($hit * CAST(hits_3 AS DOUBLE) - $fault * CAST(faults_3 AS DOUBLE), 0.0), 1.0)
        END AS raw_3
    FROM counts
),

rewards AS (
    SELECT
        gold,
        exact_outcome,
        mask,
        CASE WHEN is_formatted THEN 1.0 ELSE 0.0 END AS format,
        CASE WHEN is_right THEN 1.0 ELSE 0.0 END AS binary_reward,
        CASE WHEN is_right AND (gold & 1) = 1 THEN raw_2 ELSE 0.0 END AS l2,
        CASE WHEN is_right AND (gold & 1) = 1 AND raw_2 > 0.0 THEN raw_3 ELSE 0.0 END AS l3
    FROM parts
)

SELECT
    *,
    $weight_format * format + $weight_binary * binary_reward + $weight_l2 * l2 + $weight_l3 * l3 AS total
FROM rewards
