-- name: prompt_scores
-- question: Which images have artifacts?
-- grain: one prompt of one model
-- key: model, model_revision, judge, prompt
-- output: table
-- 100 without the artifact, 0 with it, null where the record counts in no denominator. own is about the subject's own class. In nominal a
-- record that could not be read has no flags, and so 100, as the denominators have it.
WITH counted AS (
    SELECT
        *,
        is_valid OR $denominators = 'nominal' AS is_counted,
        class = 'human' AND human OR class = 'animal' AND animal OR class = 'object' AND object AS own
    FROM records
)

SELECT
    model,
    prompt,
    class,
    detail_class,
    CASE WHEN may_flag AND is_artifact THEN 0.0 WHEN is_counted THEN 100.0 END AS overall,
    CASE WHEN may_flag AND interaction THEN 0.0 WHEN is_counted THEN 100.0 END AS interaction,
    CASE WHEN class IS NULL THEN NULL WHEN may_flag AND own THEN 0.0 WHEN is_counted THEN 100.0 END AS own,
    model_revision,
    judge
FROM counted
ORDER BY model, model_revision, judge, prompt
