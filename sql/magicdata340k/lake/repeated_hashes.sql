-- name: repeated_hashes
-- question: Which hashes of images stand more than once?
-- grain: one hash
-- key: kind, hash
-- output: lake
-- Read when sources are published, in parts if there is much; if there is any row, repeated_keys.sql is asked with these rows as a
-- table. Equal keys have equal hashes, and numbers are grouped in a fraction of the memory.
SELECT 'labels' AS kind, hash
FROM (SELECT text_hash(concat_ws('|', split, image)) AS hash FROM magicdata340k_parts.images) AS hashed
WHERE hash % $parts = $part
GROUP BY hash
HAVING count(*) > 1
UNION ALL
SELECT 'prediction' AS kind, hash
FROM (SELECT text_hash(concat_ws('|', assessor, model_revision, split, image)) AS hash FROM magicdata340k_parts.predictions) AS hashed
WHERE hash % $parts = $part
GROUP BY hash
HAVING count(*) > 1
UNION ALL
SELECT 'generator' AS kind, hash
FROM (SELECT text_hash(image) AS hash FROM magicdata340k_parts.generators) AS hashed
WHERE hash % $parts = $part
GROUP BY hash
HAVING count(*) > 1
