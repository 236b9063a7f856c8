-- name: assessed
-- question: What did each assessor say of each labelled image?
-- grain: one prediction about one labelled image
-- key: assessor, model_revision, split, image
-- output: view
-- A prediction whose file tells no split is about the image in every split, but where one that tells the split is about it. The labels
-- come first: the engine keeps that side in memory, and it is the narrower one; the path is that of the side which streams by, or every
-- batch would hold on to all of them.
WITH told AS (
    SELECT *
    FROM predictions
    WHERE split <> ''
),

untold AS (
    SELECT *
    FROM predictions
    WHERE split = ''
),

splits AS (
    SELECT DISTINCT split
    FROM gold
),

spread AS (
    SELECT
        u.assessor,
        u.model_revision,
        s.split,
        u.image,
        u.exact_outcome,
        u.exact_mask,
        u.keywords_outcome,
        u.keywords_mask
    FROM untold AS u
    CROSS JOIN splits AS s
    LEFT ANTI JOIN told AS t
        ON u.assessor = t.assessor AND u.model_revision = t.model_revision AND u.image = t.image AND s.split = t.split
)

SELECT
    p.assessor,
    p.model_revision,
    g.split,
    g.split AS told_split,
    p.image,
    g.labels_mask AS gold,
    p.exact_outcome,
    p.exact_mask,
    p.keywords_outcome,
    p.keywords_mask
FROM gold AS g
JOIN told AS p ON g.image = p.image AND g.split = p.split
UNION ALL
SELECT
    p.assessor,
    p.model_revision,
    g.split,
    '' AS told_split,
    p.image,
    g.labels_mask AS gold,
    p.exact_outcome,
    p.exact_mask,
    p.keywords_outcome,
    p.keywords_mask
FROM gold AS g
JOIN spread AS p ON g.image = p.image AND g.split = p.split
