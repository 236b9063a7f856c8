-- name: repeated_keys
-- question: About which images is there more than one record of labels, prediction or generator?
-- grain: one image of one split
-- key: kind, assessor, model_revision, split, image
-- output: lake
-- Read when sources are published, of the keys whose hashes repeat; if there is any row, repeated.sql is asked with these rows as a table.
SELECT 'labels' AS kind, '' AS assessor, '' AS model_revision, split, image
FROM magicdata340k_parts.images
WHERE text_hash(concat_ws('|', split, image)) IN (SELECT hash FROM magicdata340k_parts.repeated_hashes WHERE kind = 'labels')
GROUP BY split, image
HAVING count(*) > 1
UNION ALL
SELECT 'prediction' AS kind, assessor, model_revision, split, image
FROM magicdata340k_parts.predictions
WHERE text_hash(concat_ws('|', assessor, model_revision, split, image)) IN (SELECT hash FROM magicdata340k_parts.repeated_hashes WHERE kind = 'prediction')
GROUP BY assessor, model_revision, split, image
HAVING count(*) > 1
UNION ALL
SELECT 'generator' AS kind, '' AS assessor, '' AS model_revision, '' AS split, image
FROM magicdata340k_parts.generators
WHERE text_hash(image) IN (SELECT hash FROM magicdata340k_parts.repeated_hashes WHERE kind = 'generator')
GROUP BY image
HAVING count(*) > 1
