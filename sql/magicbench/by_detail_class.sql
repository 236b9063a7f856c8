-- name: by_detail_class
-- question: On which detail classes does each model deform its own subject?
-- grain: one detail class of one model
-- key: model, model_revision, judge, detail_class
-- output: table
WITH asked AS (
    SELECT model, model_revision, judge, detail_class FROM records
    UNION
    SELECT e.model, e.model_revision, e.judge, p.detail_class
    FROM entries AS e
    CROSS JOIN (SELECT DISTINCT detail_class FROM prompts WHERE detail_class IS NOT NULL) AS p
),

counts AS (
    SELECT
        a.model,
        a.model_revision,
        a.judge,
        a.detail_class,
        count(r.prompt) AS n_records,
        count(CASE WHEN r.is_valid THEN 1 END) AS n_valid,
        count(
            CASE
                WHEN r.may_flag AND (
                    r.class = 'human' AND r.human OR r.class = 'animal' AND r.animal OR r.class = 'object' AND r.object
                ) THEN 1
            END
        ) AS deformed
    FROM asked AS a
    LEFT JOIN records AS r
        ON a.model = r.model AND a.model_revision = r.model_revision AND a.judge = r.judge
        AND a.detail_class = r.detail_class
    GROUP BY a.model, a.model_revision, a.judge, a.detail_class
),

bases AS (
    SELECT
        *,
        CASE
            WHEN $denominators = 'nominal' AND detail_class <> '(none)' AND n_valid + deformed > 0 THEN $nominal_detail
            ELSE n_valid
        END AS n
    FROM counts
)

SELECT
    model,
    detail_class,
    100.0 * CAST(n - deformed AS DOUBLE) / nullif(n, 0) AS score,
    n,
    deformed,
    n_records,
    model_revision,
    judge
FROM bases
ORDER BY model, model_revision, judge, detail_class
