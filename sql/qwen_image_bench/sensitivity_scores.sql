-- name: sensitivity_scores
-- question: What would the overall scores be if the same cells were averaged otherwise?
-- grain: one rule for one model, revision, judge and language
-- key: rule, scope, model, model_revision, judge
-- output: memory
WITH boards AS (
    SELECT lang, judge, count(DISTINCT concat(model, '|', model_revision)) AS entries
    FROM prompt_scores
    WHERE overall IS NOT NULL
    GROUP BY lang, judge
),

shared AS (
    SELECT lang, judge, prompt_id, count(*) AS entries
    FROM prompt_scores
    WHERE overall IS NOT NULL
    GROUP BY lang, judge, prompt_id
),

on_common AS (
    SELECT p.model, p.model_revision, p.judge, p.lang, p.overall
    FROM prompt_scores AS p
    JOIN shared AS s ON p.lang = s.lang AND p.judge = s.judge AND p.prompt_id = s.prompt_id
    JOIN boards AS b ON s.lang = b.lang AND s.judge = b.judge AND s.entries = b.entries
    WHERE p.overall IS NOT NULL
),

rules AS (
    SELECT
        'mean of all facets, each cell once' AS rule, model, model_revision, judge, lang,
        exact_avg(score) AS score, count(score) AS n
    FROM scored_cells
    GROUP BY model, model_revision, judge, lang
    UNION ALL
    SELECT
        'mean of the five pillars' AS rule, model, model_revision, judge, lang,
        exact_avg(score) AS score, count(score) AS n
    FROM by_pillar
    GROUP BY model, model_revision, judge, lang
    UNION ALL
    SELECT
        'mean of the capabilities' AS rule, model, model_revision, judge, lang,
        exact_avg(score) AS score, count(score) AS n
    FROM by_capability
    GROUP BY model, model_revision, judge, lang
    UNION ALL
    SELECT
        'only prompts that all models have' AS rule, model, model_revision, judge, lang,
        exact_avg(overall) AS score, count(overall) AS n
    FROM on_common
    GROUP BY model, model_revision, judge, lang
    UNION ALL
    SELECT
        'only complete prompts' AS rule, model, model_revision, judge, lang,
        exact_avg(overall) AS score, count(overall) AS n
    FROM prompt_scores
    WHERE complete
    GROUP BY model, model_revision, judge, lang
)

SELECT rule, lang AS scope, model, model_revision, judge, score, n
FROM rules
