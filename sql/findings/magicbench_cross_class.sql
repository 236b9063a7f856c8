-- name: cross_class
-- question: How many class flags stand on records of another class?
-- grain: the lake
-- key: n
-- output: finding
SELECT
    CASE WHEN $class_flags = 'any' THEN coalesce(CAST(sum(with_human - own_human + with_animal - own_animal + with_object - own_object) AS BIGINT), 0) ELSE 0 END AS n,
    coalesce(min(CASE WHEN with_human > own_human OR with_animal > own_animal OR with_object > own_object THEN model END), '') AS detail
FROM counts
ORDER BY n
