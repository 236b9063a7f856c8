-- name: sensitivity_scores
-- question: What would the overall scores be if the same records were averaged otherwise?
-- grain: one rule for one model, revision and judge
-- key: rule, scope, model, model_revision, judge
-- output: memory
WITH boards AS (
    SELECT judge, count(DISTINCT concat(model, '|', model_revision)) AS entries
    FROM prompt_scores
    WHERE overall IS NOT NULL
    GROUP BY judge
),

shared AS (
    SELECT judge, prompt, count(*) AS entries
    FROM prompt_scores
    WHERE overall IS NOT NULL
    GROUP BY judge, prompt
),

on_common AS (
    SELECT p.model, p.model_revision, p.judge, p.overall
    FROM prompt_scores AS p
    JOIN shared AS s ON p.judge = s.judge AND p.prompt = s.prompt
    JOIN boards AS b ON s.judge = b.judge AND s.entries = b.entries
    WHERE p.overall IS NOT NULL
),

classes AS (
    SELECT model, model_revision, judge, class, exact_avg(own) AS score
    FROM prompt_scores
    WHERE own IS NOT NULL
    GROUP BY model, model_revision, judge, class
),

rules AS (
    SELECT
        'only prompts that all models have' AS rule, model, model_revision, judge,
        exact_avg(overall) AS score, count(overall) AS n
    FROM on_common
    GROUP BY model, model_revision, judge
    UNION ALL
    SELECT
        'mean of the classes, each by its own flag' AS rule, model, model_revision, judge,
        exact_avg(score) AS score, count(score) AS n
    FROM classes
    GROUP BY model, model_revision, judge
)

SELECT rule, '' AS scope, model, model_revision, judge, score, n
FROM rules
