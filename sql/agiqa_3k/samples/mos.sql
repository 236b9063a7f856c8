-- name: mos
-- question: How do people rate each generator's image of each prompt?
-- grain: one human score of one image
-- key: scope, model, model_revision, judge, item, unit
-- output: sample
-- A generator's variants are compared as its revisions.
WITH images AS (
    SELECT
        generator AS model,
        CASE WHEN variant = 'normal' THEN '' ELSE coalesce(variant, '') END AS model_revision,
        CAST(prompt_number AS TEXT) AS unit,
        mos_quality,
        mos_align
    FROM image_scores
    WHERE generator IS NOT NULL AND prompt_number IS NOT NULL
)

SELECT '' AS scope, model, model_revision, '' AS judge, 'quality' AS item, unit, mos_quality AS value
FROM images
WHERE mos_quality IS NOT NULL
UNION ALL
SELECT '' AS scope, model, model_revision, '' AS judge, 'align' AS item, unit, mos_align AS value
FROM images
WHERE mos_align IS NOT NULL
