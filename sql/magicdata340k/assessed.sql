-- name: assessed
-- question: What did each assessor say of each labelled image?
-- grain: one prediction about one labelled image
-- key: assessor, model_revision, split, image
-- output: view
-- A prediction whose file tells no split is about the image in every split. The labels come first: the engine keeps that side in
-- memory, and it is the narrower one; the path is that of the side which streams by, or every batch would hold on to all of them.
SELECT
    p.assessor,
    p.model_revision,
    g.split,
    p.split AS told_split,
    p.image,
    g.labels_mask AS gold,
    p.exact_outcome,
    p.exact_mask,
    p.keywords_outcome,
    p.keywords_mask
FROM gold AS g
JOIN predictions AS p ON g.image = p.image
WHERE p.split = g.split OR p.split = ''
