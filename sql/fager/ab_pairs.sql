-- name: ab_pairs
-- question: How does each score rate the real and the generated image of each prompt?
-- grain: one score of one prompt of one generated run against the reference run
-- key: collection, reference_revision, generated_run, model_revision, judge, score_name, prompt_index
-- output: memory
-- Pairs are joined by prompt index, within one judge; each revision of the reference run by itself. In official scores are compared as
-- rounded to two decimals, in strict unrounded. sign is 1 where the real image is rated better, -1 where the generated one is.
WITH all_scores AS (
    SELECT collection, run, model_revision, judge, prompt_index, score_name, score, unrounded, FALSE AS lower_is_better
    FROM used_scores
    UNION ALL
    SELECT
        collection, run, '' AS model_revision, '' AS judge, prompt_index, metric AS score_name, score, score AS unrounded,
        lower_is_better
    FROM scores
    WHERE state = 'ok'
),

excluded AS (
    SELECT DISTINCT s.collection, s.prompt_index
    FROM all_scores AS s
    LEFT JOIN exclusions AS x ON s.collection = x.collection AND s.prompt_index = x.prompt_index
    WHERE
        $exclude = 'listed' AND x.prompt_index IS NOT NULL
        OR array_has(string_to_array(replace($exclude, ' ', ''), ','), CAST(s.prompt_index AS TEXT))
),

reference AS (
    SELECT * FROM all_scores WHERE run = $reference_run
)

SELECT
    g.collection,
    r.model_revision AS reference_revision,
    g.run AS generated_run,
    g.model_revision,
    g.judge,
    g.score_name,
    g.prompt_index,
    r.lower_is_better OR g.lower_is_better AS lower_is_better,
    r.score AS reference_score,
    g.score AS generated_score,
    r.score - g.score AS margin,
    CASE
        WHEN r.score = g.score THEN 0
        WHEN r.score > g.score THEN CASE WHEN r.lower_is_better OR g.lower_is_better THEN -1 ELSE 1 END
        ELSE CASE WHEN r.lower_is_better OR g.lower_is_better THEN 1 ELSE -1 END
    END AS sign,
    r.unrounded <> g.unrounded AS differs_unrounded,
    x.prompt_index IS NOT NULL AS is_excluded
FROM all_scores AS g
JOIN reference AS r
    ON g.collection = r.collection AND g.judge = r.judge AND g.score_name = r.score_name
    AND g.prompt_index = r.prompt_index
LEFT JOIN excluded AS x ON g.collection = x.collection AND g.prompt_index = x.prompt_index
WHERE g.run <> $reference_run
