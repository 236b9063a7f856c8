-- name: repeated
-- question: Which records are about one image or score, and do they say the same?
-- grain: one record
-- key: kind, collection, run, model_revision, judge, prompt_index, item, source, source_line
-- output: lake
-- Read when sources are published. The last four columns are the record's place, what it says and how well it can be read (-1 if there
-- is nothing); those before are the key that must be unique. Sorted where it is read.
WITH records AS (
    SELECT
        'image' AS kind, collection, run, model_revision, judge, prompt_index, '' AS item, source, source_line,
        concat_ws('|', answers_sha256, coalesce(decision, 'none'), coalesce(CAST(level_1 AS TEXT), 'none'),
            coalesce(CAST(level_2 AS TEXT), 'none'),
            coalesce(CAST(level_3 AS TEXT), 'none'),
            coalesce(CAST(overall AS TEXT), 'none')) AS digest,
        CASE WHEN n_questions = 0 THEN -1 WHEN is_error THEN 0 ELSE 1 END AS readable
    FROM fager_parts.images
    UNION ALL
    SELECT
        'summary' AS kind, collection, run, model_revision, judge, prompt_index, '' AS item, source, source_line,
        concat_ws('|', coalesce(decision, 'none'), coalesce(CAST(level_1 AS TEXT), 'none'),
            coalesce(CAST(level_2 AS TEXT), 'none'),
            coalesce(CAST(level_3 AS TEXT), 'none'),
            coalesce(CAST(overall AS TEXT), 'none'),
            coalesce(CAST(n AS TEXT), 'none'),
            coalesce(CAST(n_yes AS TEXT), 'none'),
            coalesce(CAST(n_no AS TEXT), 'none'),
            coalesce(CAST(n_unknown AS TEXT), 'none')) AS digest,
        CASE WHEN overall IS NULL THEN 0 ELSE 1 END AS readable
    FROM fager_parts.summaries
    UNION ALL
    SELECT
        'score' AS kind, collection, run, '' AS model_revision, '' AS judge, prompt_index, metric AS item, source, source_line,
        CAST(score AS TEXT) AS digest,
        CASE state WHEN 'ok' THEN 1 WHEN 'missing' THEN -1 ELSE 0 END AS readable
    FROM fager_parts.scores
)

SELECT
    r.kind,
    r.collection,
    r.run,
    r.model_revision,
    r.judge,
    r.prompt_index,
    r.item,
    r.source,
    r.source_line,
    r.digest,
    r.readable
FROM records AS r
JOIN fager_parts.repeated_keys AS d
    ON r.kind = d.kind AND r.collection = d.collection AND r.run = d.run AND r.model_revision = d.model_revision
    AND r.judge = d.judge AND r.prompt_index = d.prompt_index AND r.item = d.item
