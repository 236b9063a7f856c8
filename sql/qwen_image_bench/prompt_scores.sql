-- name: prompt_scores
-- question: How good is each image, and is its score complete?
-- grain: one image
-- key: model, model_revision, judge, lang, prompt_id
-- output: table
WITH active AS (
    SELECT prompt_id, count(*) AS n_active
    FROM active_pillars
    GROUP BY prompt_id
),

known AS (
    SELECT prompt_id
    FROM prompts
    WHERE has_metadata
),

images AS (
    SELECT
        p.model,
        p.model_revision,
        p.judge,
        p.lang,
        p.prompt_id,
        exact_avg(p.score) AS overall,
        count(p.score) AS n_pillars,
        count(a.pillar) AS n_active_scored
    FROM pillar_scores AS p
    LEFT JOIN active_pillars AS a
        ON p.prompt_id = a.prompt_id
        AND p.pillar = a.pillar
    GROUP BY p.model, p.model_revision, p.judge, p.lang, p.prompt_id
)

SELECT
    i.model,
    i.lang,
    i.prompt_id,
    i.overall,
    i.n_pillars,
    CASE WHEN k.prompt_id IS NOT NULL THEN coalesce(a.n_active, 0) END AS n_active,
    CASE WHEN k.prompt_id IS NOT NULL THEN i.n_active_scored = coalesce(a.n_active, 0) END AS complete,
    i.model_revision,
    i.judge
FROM images AS i
LEFT JOIN known AS k ON i.prompt_id = k.prompt_id
LEFT JOIN active AS a ON i.prompt_id = a.prompt_id
ORDER BY i.model, i.model_revision, i.judge, i.lang, i.prompt_id
