-- name: outcome_patterns
-- question: Which pairs of labels and prediction occur, and how often?
-- grain: one pair of label sets of one assessor and split
-- key: assessor, model_revision, split, told_split, gold, exact_outcome, exact_mask, keywords_outcome, keywords_mask
-- output: memory
-- All counts come from these few pairs, however many images there are.
SELECT
    assessor,
    model_revision,
    split,
    told_split,
    gold,
    exact_outcome,
    exact_mask,
    keywords_outcome,
    keywords_mask,
    count(*) AS n
FROM assessed
GROUP BY assessor, model_revision, split, told_split, gold, exact_outcome, exact_mask, keywords_outcome, keywords_mask
