-- name: repeated
-- question: Which records are about one image, and can each be read?
-- grain: one record
-- key: kind, assessor, model_revision, split, image, source, source_line
-- output: lake
-- Read when sources are published. The last four columns are the record's place, the digest of its text and how many readings
-- can read it (-1 if there is no text); those before are the key that must be unique. Sorted where it is read.
WITH records AS (
    SELECT
        'labels' AS kind, '' AS assessor, '' AS model_revision, split, image, source, source_line,
        concat(text_sha256, ' ', generator) AS digest,
        CASE outcome WHEN 'missing' THEN -1 WHEN 'ok' THEN 4 ELSE 0 END
        + CASE WHEN generator IS NULL OR outcome = 'missing' THEN 0 ELSE 1 END AS readable
    FROM magicdata340k_parts.images
    UNION ALL
    SELECT
        'prediction' AS kind, assessor, model_revision, split, image, source, source_line,
        text_sha256 AS digest,
        CASE
            WHEN exact_outcome = 'missing' AND keywords_outcome = 'missing' THEN -1
            ELSE CASE WHEN exact_outcome = 'ok' THEN 1 ELSE 0 END + CASE WHEN keywords_outcome = 'ok' THEN 1 ELSE 0 END
        END AS readable
    FROM magicdata340k_parts.predictions
    UNION ALL
    SELECT
        'generator' AS kind, '' AS assessor, '' AS model_revision, '' AS split, image, source, source_line,
        generator AS digest,
        CASE WHEN generator IS NULL THEN -1 ELSE 1 END AS readable
    FROM magicdata340k_parts.generators
)

SELECT
    r.kind,
    r.assessor,
    r.model_revision,
    r.split,
    r.image,
    r.source,
    r.source_line,
    r.digest,
    r.readable
FROM records AS r
JOIN magicdata340k_parts.repeated_keys AS d
    ON r.kind = d.kind AND r.assessor = d.assessor AND r.model_revision = d.model_revision
    AND r.split = d.split AND r.image = d.image
