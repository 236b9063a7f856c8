-- name: repeated_keys
-- question: About which images, metrics and ratings is there more than one record?
-- grain: one image, metric or rating
-- key: kind, metric, name, session, subject
-- output: lake
-- Read when sources are published; if there is any row, repeated.sql is asked with these rows as a table.
SELECT 'image' AS kind, '' AS metric, name, '' AS session, '' AS subject
FROM agiqa_3k_parts.images
GROUP BY name
HAVING count(*) > 1
UNION ALL
SELECT 'prediction' AS kind, metric, name, '' AS session, '' AS subject
FROM agiqa_3k_parts.predictions
GROUP BY metric, name
HAVING count(*) > 1
UNION ALL
SELECT 'rating' AS kind, target AS metric, item AS name, session, subject
FROM agiqa_3k_parts.ratings
GROUP BY target, item, session, subject
HAVING count(*) > 1
