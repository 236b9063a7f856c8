-- name: judge_health
-- question: How does the judge fare: which replies can be read, how often does it say N/A, and how does it spread 0, 1 and 2?
-- grain: one facet, one pillar, or all of one model
-- key: model, model_revision, judge, lang, level, pillar, capability, facet
-- output: table
-- A facet of the rubric that no reply speaks of is never judged; one whose every cell is N/A tells nothing either.
WITH counted AS (
    SELECT
        model,
        model_revision,
        judge,
        lang,
        pillar,
        capability,
        facet,
        count(*) AS cells,
        count(CASE WHEN state = 'na' THEN 1 END) AS na,
        count(CASE WHEN state = 'ok' AND value = 0 THEN 1 END) AS n_0,
        count(CASE WHEN state = 'ok' AND value = 1 THEN 1 END) AS n_1,
        count(CASE WHEN state = 'ok' AND value = 2 THEN 1 END) AS n_2,
        count(CASE WHEN state NOT IN ('ok', 'na') THEN 1 END) AS unusable
    FROM cells
    WHERE state IS NOT NULL
    GROUP BY model, model_revision, judge, lang, pillar, capability, facet
),

named AS (
    SELECT e.model, e.model_revision, e.judge, e.lang, t.pillar, t.capability, t.facet
    FROM entries AS e
    CROSS JOIN taxonomy AS t
    UNION
    SELECT model, model_revision, judge, lang, pillar, capability, facet
    FROM counted
),

facets AS (
    SELECT
        n.model,
        n.model_revision,
        n.judge,
        n.lang,
        n.pillar,
        n.capability,
        n.facet,
        coalesce(c.cells, 0) AS cells,
        coalesce(c.na, 0) AS na,
        coalesce(c.n_0, 0) AS n_0,
        coalesce(c.n_1, 0) AS n_1,
        coalesce(c.n_2, 0) AS n_2,
        coalesce(c.unusable, 0) AS unusable
    FROM named AS n
    LEFT JOIN counted AS c
        ON n.model = c.model AND n.model_revision = c.model_revision AND n.judge = c.judge AND n.lang = c.lang
        AND n.pillar = c.pillar AND n.capability = c.capability AND n.facet = c.facet
),

read AS (
    SELECT
        model,
        model_revision,
        judge,
        lang,
        pillar,
        count(*) AS replies,
        count(CASE WHEN outcome = 'parse_failed' THEN 1 END) AS unreadable,
        count(CASE WHEN CASE WHEN $protocol = 'strict' THEN repairs ELSE repairs_official END <> '' THEN 1 END) AS repaired
    FROM replies
    WHERE NOT is_set_aside AND outcome <> 'missing'
    GROUP BY model, model_revision, judge, lang, pillar
),

pillars AS (
    SELECT
        f.model, f.model_revision, f.judge, f.lang, f.pillar,
        max(coalesce(r.replies, 0)) AS replies,
        max(coalesce(r.unreadable, 0)) AS unreadable,
        max(coalesce(r.repaired, 0)) AS repaired,
        sum(f.cells) AS cells, sum(f.na) AS na, sum(f.n_0) AS n_0, sum(f.n_1) AS n_1, sum(f.n_2) AS n_2,
        sum(f.unusable) AS unusable
    FROM facets AS f
    LEFT JOIN read AS r
        ON f.model = r.model AND f.model_revision = r.model_revision AND f.judge = r.judge AND f.lang = r.lang
        AND f.pillar = r.pillar
    GROUP BY f.model, f.model_revision, f.judge, f.lang, f.pillar
),

levels AS (
    SELECT
        'all' AS level, model, model_revision, judge, lang, '' AS pillar, '' AS capability, '' AS facet,
        sum(replies) AS replies, sum(unreadable) AS unreadable, sum(repaired) AS repaired,
        sum(cells) AS cells, sum(na) AS na, sum(n_0) AS n_0, sum(n_1) AS n_1, sum(n_2) AS n_2, sum(unusable) AS unusable
    FROM pillars
    GROUP BY model, model_revision, judge, lang
    UNION ALL
    SELECT
        'pillar' AS level, model, model_revision, judge, lang, pillar, '' AS capability, '' AS facet,
        replies, unreadable, repaired, cells, na, n_0, n_1, n_2, unusable
    FROM pillars
    UNION ALL
    SELECT
        'facet' AS level, model, model_revision, judge, lang, pillar, capability, facet,
        CAST(NULL AS BIGINT) AS replies, CAST(NULL AS BIGINT) AS unreadable, CAST(NULL AS BIGINT) AS repaired,
        cells, na, n_0, n_1, n_2, unusable
    FROM facets
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
