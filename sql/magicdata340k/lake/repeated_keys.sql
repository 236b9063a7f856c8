-- name: repeated_keys
-- question: About which images is there more than one record of labels, prediction or generator?
-- grain: one image of one split
-- key: kind, assessor, model_revision, split, image
-- output: lake
-- Read when sources are published; if there is any row, repeated.sql is asked with these rows as a table.
SELECT
    'labels' AS kind, '' AS assessor, '' AS model_revision, split, image
FROM magicdata340k_parts.images
GROUP BY split, image
HAVING count(*) > 1
UNION ALL
SELECT
    'prediction' AS kind, assessor, model_revision, split, image
FROM magicdata340k_parts.predictions
GROUP BY assessor, model_revision, split, image
HAVING count(*) > 1
UNION ALL
SELECT
    'generator' AS kind, '' AS assessor, '' AS model_revision, '' AS split, image
FROM magicdata340k_parts.generators
GROUP BY image
HAVING count(*) > 1
