-- name: judge_health
-- question: How does the judge fare: which replies can be read, how often does it say N/A, and how does it spread 0, 1 and 2?
-- grain: one facet, one pillar, or all of one model
-- key: model, model_revision, judge, lang, level, pillar, capability, facet
-- output: table
-- A facet of the rubric that no reply speaks of is never judged; one whose every cell is N/A tells nothing either.
WITH levels AS (
    SELECT
        'all' AS level, model, model_revision, judge, lang, '' AS pillar, '' AS capability, '' AS facet,
        sum(replies) AS replies, sum(unreadable) AS unreadable, sum(repaired) AS repaired,
        sum(cells) AS cells, sum(na) AS na, sum(n_0) AS n_0, sum(n_1) AS n_1, sum(n_2) AS n_2, sum(unusable) AS unusable
    FROM health_pillars
    GROUP BY model, model_revision, judge, lang
    UNION ALL
    SELECT
        'pillar' AS level, model, model_revision, judge, lang, pillar, '' AS capability, '' AS facet,
        replies, unreadable, repaired, cells, na, n_0, n_1, n_2, unusable
    FROM health_pillars
    UNION ALL
    SELECT
        'facet' AS level, model, model_revision, judge, lang, pillar, capability, facet,
        CAST(NULL AS BIGINT) AS replies, CAST(NULL AS BIGINT) AS unreadable, CAST(NULL AS BIGINT) AS repaired,
        cells, na, n_0, n_1, n_2, unusable
    FROM health_facets
)

SELECT
    model,
    lang,
    level,
    pillar,
    capability,
    facet,
    replies,
    unreadable,
    repaired,
    cells,
    na,
    n_0,
    n_1,
    n_2,
    unusable,
    CAST(na AS DOUBLE) / nullif(cells, 0) AS na_rate,
    ($score_map_0 * n_0 + $score_map_1 * n_1 + $score_map_2 * n_2) / nullif(n_0 + n_1 + n_2, 0) AS mean_score,
    CASE
        WHEN cells = 0 THEN 'never judged'
        WHEN na = cells THEN 'always N/A'
        WHEN n_0 + n_1 + n_2 > 1 AND greatest(n_0, n_1, n_2) = n_0 + n_1 + n_2 THEN 'always one score'
        ELSE ''
    END AS remark,
    model_revision,
    judge
FROM levels
ORDER BY model, model_revision, judge, lang, level, pillar, capability, facet
