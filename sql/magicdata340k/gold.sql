-- name: gold
-- question: Which images have labels that can be read, in the split asked for?
-- grain: one image of one split
-- key: split, image
-- output: view
SELECT split, image, generator, labels_mask
FROM images
WHERE outcome = 'ok' AND ($split = '' OR split = $split)
