-- name: counts
-- question: How many records and flags does each model have?
-- grain: one model, revision and judge
-- key: model, model_revision, judge
-- output: memory
SELECT
    e.model,
    e.model_revision,
    e.judge,
    count(r.prompt) AS n,
    count(CASE WHEN r.is_valid THEN 1 END) AS n_valid,
    count(CASE WHEN r.is_valid AND r.class = 'human' THEN 1 END) AS n_human,
    count(CASE WHEN r.is_valid AND r.class = 'animal' THEN 1 END) AS n_animal,
    count(CASE WHEN r.is_valid AND r.class = 'object' THEN 1 END) AS n_object,
    count(CASE WHEN r.is_valid AND r.is_known THEN 1 END) AS n_covered,
    count(CASE WHEN r.may_flag AND r.is_artifact THEN 1 END) AS with_artifact,
    count(CASE WHEN r.may_flag AND r.interaction THEN 1 END) AS with_interaction,
    count(CASE WHEN r.may_flag AND r.human THEN 1 END) AS with_human,
    count(CASE WHEN r.may_flag AND r.animal THEN 1 END) AS with_animal,
    count(CASE WHEN r.may_flag AND r.object THEN 1 END) AS with_object,
    count(CASE WHEN r.may_flag AND r.human AND r.class = 'human' THEN 1 END) AS own_human,
    count(CASE WHEN r.may_flag AND r.animal AND r.class = 'animal' THEN 1 END) AS own_animal,
    count(CASE WHEN r.may_flag AND r.object AND r.class = 'object' THEN 1 END) AS own_object
FROM entries AS e
LEFT JOIN records AS r ON e.model = r.model AND e.model_revision = r.model_revision AND e.judge = r.judge
GROUP BY e.model, e.model_revision, e.judge
