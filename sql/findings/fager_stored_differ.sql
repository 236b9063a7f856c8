-- name: stored_differ
-- question: On how many images do the stored scores differ from those recomputed from the answers?
-- grain: the lake
-- key: n
-- output: finding
-- The stored scores are of the official rules and thresholds; under others a difference is no surprise.
SELECT
    count(
        CASE
            WHEN $invalid_answers = 'unknown' AND $regenerate_threshold = 20.0 AND $keep_threshold = 95.0 AND NOT equals_stored THEN 1
        END
    ) AS n,
    coalesce(min(CASE WHEN NOT equals_stored THEN concat(collection, '/', run, ' ', prompt_index) END), '') AS detail
FROM image_scores
ORDER BY n
