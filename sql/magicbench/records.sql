-- name: records
-- question: What does each record with a prompt say?
-- grain: one record with a prompt
-- key: model, model_revision, judge, prompt
-- output: memory
-- Without its subject an image has an artifact, and the anatomy flag of its class, whatever the response says. The class is what
-- the record says. may_flag: whether its flags count, is_valid: whether it counts in a denominator.
WITH classified AS (
    SELECT
        a.model,
        a.model_revision,
        a.judge,
        a.prompt,
        a.class,
        coalesce(a.detail_class, '(none)') AS detail_class,
        p.prompt IS NOT NULL AS is_known,
        a.outcome = 'ok' AS is_valid,
        coalesce(a.has_subject, TRUE) AS has_subject,
        coalesce(a.is_artifact, FALSE) AS is_artifact,
        coalesce(a.interaction, FALSE) AS interaction,
        coalesce(a.human, FALSE) AS human,
        coalesce(a.animal, FALSE) AS animal,
        coalesce(a.object, FALSE) AS object
    FROM assessments AS a
    LEFT JOIN prompts AS p ON a.prompt = p.prompt
    WHERE a.prompt <> ''
)

SELECT
    model,
    model_revision,
    judge,
    prompt,
    class,
    detail_class,
    is_known,
    is_valid,
    is_valid OR NOT has_subject AND $flags_of = 'valid_or_no_subject' AS may_flag,
    CASE WHEN has_subject THEN is_artifact ELSE TRUE END AS is_artifact,
    CASE WHEN has_subject THEN interaction ELSE FALSE END AS interaction,
    CASE WHEN has_subject THEN human ELSE coalesce(class = 'human', FALSE) END AS human,
    CASE WHEN has_subject THEN animal ELSE coalesce(class = 'animal', FALSE) END AS animal,
    CASE WHEN has_subject THEN object ELSE coalesce(class = 'object', FALSE) END AS object
FROM classified
