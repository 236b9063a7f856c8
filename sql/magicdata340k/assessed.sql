-- name: assessed
-- question: What did each assessor say of each labelled image?
-- grain: one prediction about one labelled image
-- key: assessor, model_revision, split, image
-- output: view
-- A prediction whose file tells no split is about the image in every split.
SELECT
    p.assessor,
    p.model_revision,
    g.split,
    g.image,
    g.labels_mask AS gold,
    p.exact_outcome,
    p.exact_mask,
    p.keywords_outcome,
    p.keywords_mask
FROM predictions AS p
JOIN gold AS g ON p.image = g.image
WHERE p.split = g.split OR p.split = ''
