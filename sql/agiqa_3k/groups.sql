-- name: groups
-- question: Which groups does each image belong to?
-- grain: one group of one image
-- key: group_kind, name
-- output: view
-- style_group joins styles as the paper does; tier is a hypothesis about how good generators are, set in the pipeline.
WITH described AS (
    SELECT
        name,
        generator,
        variant,
        style,
        length,
        mos_quality,
        mos_align,
        CASE
            WHEN style IS NULL THEN '(none)'
            WHEN style = 'baroque style' THEN 'baroque'
            WHEN style IN ('anime style', 'realistic style') THEN 'anime+realistic'
            WHEN style IN ('abstract style', 'sci-fi style') THEN 'abstract+sci-fi'
            ELSE style
        END AS style_group,
        CASE
            WHEN array_has(string_to_array($tier_bad, ','), generator) THEN 'bad'
            WHEN array_has(string_to_array($tier_medium, ','), generator) THEN 'medium'
            WHEN array_has(string_to_array($tier_good, ','), generator) THEN 'good'
            ELSE '(none)'
        END AS tier
    FROM images
)

SELECT i.name, 'all' AS group_kind, 'all' AS group_name, i.mos_quality, i.mos_align
FROM described AS i
UNION ALL
SELECT i.name, 'generator' AS group_kind, coalesce(i.generator, '(none)') AS group_name, i.mos_quality, i.mos_align
FROM described AS i
UNION ALL
SELECT i.name, 'variant' AS group_kind, coalesce(i.variant, '(none)') AS group_name, i.mos_quality, i.mos_align
FROM described AS i
UNION ALL
SELECT
    i.name,
    'generator_variant' AS group_kind,
    concat(coalesce(i.generator, '(none)'), '|', coalesce(i.variant, '(none)')) AS group_name,
    i.mos_quality,
    i.mos_align
FROM described AS i
UNION ALL
SELECT i.name, 'style' AS group_kind, coalesce(i.style, '(none)') AS group_name, i.mos_quality, i.mos_align
FROM described AS i
UNION ALL
SELECT i.name, 'style_group' AS group_kind, i.style_group AS group_name, i.mos_quality, i.mos_align
FROM described AS i
UNION ALL
SELECT i.name, 'length' AS group_kind, CAST(i.length AS TEXT) AS group_name, i.mos_quality, i.mos_align
FROM described AS i
UNION ALL
SELECT i.name, 'tier' AS group_kind, i.tier AS group_name, i.mos_quality, i.mos_align
FROM described AS i
UNION ALL
SELECT
    i.name,
    'generator_length' AS group_kind,
    concat(coalesce(i.generator, '(none)'), '|', CAST(i.length AS TEXT)) AS group_name,
    i.mos_quality,
    i.mos_align
FROM described AS i
UNION ALL
SELECT
    i.name,
    'generator_style' AS group_kind,
    concat(coalesce(i.generator, '(none)'), '|', coalesce(i.style, '(none)')) AS group_name,
    i.mos_quality,
    i.mos_align
FROM described AS i
