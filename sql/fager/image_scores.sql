-- name: image_scores
-- question: How factual is each image, and what is to be done with it?
-- grain: one image of a run
-- key: collection, run, model_revision, judge, prompt_index
-- output: table
-- Levels without questions are null, not 0. The overall score is the mean over all questions together, not over levels; of a gated
-- image it is level 1 alone. Operations are in the order of the released code, so that thresholds are met by the same doubles.
WITH evaluated AS (
    SELECT l.*
    FROM levels AS l
    JOIN gates AS g
        ON l.collection = g.collection AND l.run = g.run AND l.model_revision = g.model_revision AND l.judge = g.judge
        AND l.prompt_index = g.prompt_index
    WHERE g.is_gated IS NOT NULL AND (NOT g.is_gated OR l.level = 'level_1')
),

totals AS (
    SELECT
        collection, run, model_revision, judge, prompt_index,
        sum(halves) AS halves,
        sum(n) AS n,
        sum(n_yes) AS n_yes,
        sum(n_no) AS n_no,
        sum(n_unknown) AS n_unknown,
        max(CASE WHEN level = 'level_2' THEN CAST(halves AS DOUBLE) / 2.0 / CAST(n AS DOUBLE) * 100.0 END) AS level_2,
        max(CASE WHEN level = 'level_3' THEN CAST(halves AS DOUBLE) / 2.0 / CAST(n AS DOUBLE) * 100.0 END) AS level_3
    FROM evaluated
    GROUP BY collection, run, model_revision, judge, prompt_index
),

scored AS (
    SELECT
        g.collection,
        g.run,
        g.model_revision,
        g.judge,
        g.prompt_index,
        g.level_1,
        t.level_2,
        t.level_3,
        CASE WHEN g.is_gated THEN g.level_1 ELSE CAST(t.halves AS DOUBLE) / 2.0 / CAST(t.n AS DOUBLE) * 100.0 END AS overall,
        g.is_gated,
        coalesce(t.n_yes, 0) AS n_yes,
        coalesce(t.n_no, 0) AS n_no,
        coalesce(t.n_unknown, 0) AS n_unknown,
        coalesce(t.n, 0) AS n
    FROM gates AS g
    LEFT JOIN totals AS t
        ON g.collection = t.collection AND g.run = t.run AND g.model_revision = t.model_revision AND g.judge = t.judge
        AND g.prompt_index = t.prompt_index
),

decided AS (
    SELECT
        *,
        CASE
            WHEN is_gated THEN 'regenerate'
            WHEN overall >= $keep_threshold THEN 'keep'
            WHEN overall IS NOT NULL THEN 'edit'
        END AS decision
    FROM scored
),

stored AS (
    SELECT collection, run, model_revision, judge, prompt_index, image, decision, level_1, level_2, level_3, overall, n, n_yes, n_no, n_unknown FROM images
    UNION ALL
    SELECT collection, run, model_revision, judge, prompt_index, image, decision, level_1, level_2, level_3, overall, n, n_yes, n_no, n_unknown FROM summaries
),

compared AS (
    SELECT
        d.collection,
        d.run,
        d.model_revision,
        d.judge,
        d.prompt_index,
        bool_and(
            coalesce(s.decision = d.decision, s.decision IS NULL)
            AND coalesce(s.overall = python_round2(d.overall), s.overall IS NULL)
            AND (s.overall IS NULL OR s.level_1 IS NOT DISTINCT FROM python_round2(d.level_1))
            AND (s.overall IS NULL OR s.level_2 IS NOT DISTINCT FROM python_round2(d.level_2))
            AND (s.overall IS NULL OR s.level_3 IS NOT DISTINCT FROM python_round2(d.level_3))
            AND coalesce(s.n = d.n, s.n IS NULL) AND coalesce(s.n_yes = d.n_yes, s.n_yes IS NULL)
            AND coalesce(s.n_no = d.n_no, s.n_no IS NULL) AND coalesce(s.n_unknown = d.n_unknown, s.n_unknown IS NULL)
        ) AS equals_stored
    FROM decided AS d
    JOIN stored AS s
        ON d.collection = s.collection AND d.run = s.run AND d.model_revision = s.model_revision AND d.judge = s.judge
        AND d.prompt_index = s.prompt_index
    WHERE s.overall IS NOT NULL OR s.decision IS NOT NULL
    GROUP BY d.collection, d.run, d.model_revision, d.judge, d.prompt_index
)

SELECT
    d.collection,
    d.run,
    d.prompt_index,
    d.level_1,
    d.level_2,
    d.level_3,
    d.overall,
    python_round2(d.overall) AS overall_rounded,
    d.decision,
    coalesce(d.is_gated, FALSE) AS gated,
    d.n_yes,
    d.n_no,
    d.n_unknown,
    d.n,
    coalesce(m.overall, i.overall) AS stored_overall,
    coalesce(m.decision, i.decision) AS stored_decision,
    c.equals_stored,
    i.image,
    d.model_revision,
    d.judge
FROM decided AS d
JOIN images AS i
    ON d.collection = i.collection AND d.run = i.run AND d.model_revision = i.model_revision AND d.judge = i.judge
    AND d.prompt_index = i.prompt_index
LEFT JOIN summaries AS m
    ON d.collection = m.collection AND d.run = m.run AND d.model_revision = m.model_revision AND d.judge = m.judge
    AND d.prompt_index = m.prompt_index
LEFT JOIN compared AS c
    ON d.collection = c.collection AND d.run = c.run AND d.model_revision = c.model_revision AND d.judge = c.judge
    AND d.prompt_index = c.prompt_index
ORDER BY d.collection, d.run, d.model_revision, d.judge, d.prompt_index
