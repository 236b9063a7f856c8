-- name: image_scores
-- question: How do people rate each image?
-- grain: one image
-- key: name
-- output: table
SELECT name, generator, variant, prompt_number, mos_quality, mos_align
FROM images
ORDER BY name
