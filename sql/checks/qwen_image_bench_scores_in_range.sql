-- name: scores_in_range
-- question: Does every score lie between the least and the greatest points of the score map?
-- grain: one score that does not
-- key: table_name, model, item
-- output: check
WITH bounds AS (
    SELECT
        least($score_map_0, $score_map_1, $score_map_2) AS low,
        greatest($score_map_0, $score_map_1, $score_map_2) AS high
),

scores AS (
    SELECT 'leaderboard' AS table_name, model, '' AS item, overall AS score FROM leaderboard
    UNION ALL
    SELECT 'by_pillar' AS table_name, model, pillar AS item, score FROM by_pillar
    UNION ALL
    SELECT 'by_capability' AS table_name, model, concat(pillar, ' / ', capability) AS item, score FROM by_capability
    UNION ALL
    SELECT 'by_facet' AS table_name, model, concat(pillar, ' / ', capability, ' / ', facet) AS item, score FROM by_facet
)

SELECT s.table_name, s.model, s.item, s.score
FROM scores AS s
CROSS JOIN bounds AS b
WHERE s.score < b.low OR s.score > b.high
ORDER BY s.table_name, s.model, s.item
