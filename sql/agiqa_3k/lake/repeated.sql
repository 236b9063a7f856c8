-- name: repeated
-- question: Which records are about one thing, and do they say the same?
-- grain: one record
-- key: kind, metric, name, session, subject, source, source_line
-- output: lake
-- Read when sources are published. The last four columns are the record's place, what it says and how much of it can be read (-1 if
-- there is nothing); those before are the key that must be unique. Sorted where it is read.
WITH records AS (
    SELECT
        'image' AS kind, '' AS metric, name, '' AS session, '' AS subject, source, source_line,
        concat_ws('|', coalesce(prompt, 'none'), coalesce(adj1, 'none'), coalesce(adj2, 'none'),
            coalesce(style, 'none'), coalesce(CAST(mos_quality AS TEXT), 'none'), 
            coalesce(CAST(std_quality AS TEXT), 'none'), coalesce(CAST(mos_align AS TEXT), 'none'),
                coalesce(CAST(std_align AS TEXT), 'none')) AS digest, 
        CASE WHEN mos_quality IS NOT NULL AND mos_align IS NOT NULL THEN 2 ELSE 1 END AS readable
    FROM agiqa_3k_parts.images
    UNION ALL
    SELECT
        'prediction' AS kind, metric, name, '' AS session, '' AS subject, source, source_line,
        CAST(value AS TEXT) AS digest,
        CASE state WHEN 'ok' THEN 1 WHEN 'missing' THEN -1 ELSE 0 END AS readable
    FROM agiqa_3k_parts.predictions
    UNION ALL
    SELECT
        'rating' AS kind, target AS metric, item AS name, session, subject, source, source_line,
        CAST(score AS TEXT) AS digest,
        CASE state WHEN 'ok' THEN 1 WHEN 'missing' THEN -1 ELSE 0 END AS readable
    FROM agiqa_3k_parts.ratings
)

SELECT
    r.kind,
    r.metric,
    r.name,
    r.session,
    r.subject,
    r.source,
    r.source_line,
    r.digest,
    r.readable
FROM records AS r
JOIN agiqa_3k_parts.repeated_keys AS d
    ON r.kind = d.kind AND r.metric = d.metric AND r.name = d.name AND r.session = d.session AND r.subject = d.subject
