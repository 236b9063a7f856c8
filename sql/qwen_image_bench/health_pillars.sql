-- name: health_pillars
-- question: How do the judge's replies fare on each pillar?
-- grain: one pillar of one model
-- key: model, model_revision, judge, lang, pillar
-- output: memory
WITH read AS (
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
)

SELECT
    f.model, f.model_revision, f.judge, f.lang, f.pillar,
    max(coalesce(r.replies, 0)) AS replies,
    max(coalesce(r.unreadable, 0)) AS unreadable,
    max(coalesce(r.repaired, 0)) AS repaired,
    sum(f.cells) AS cells, sum(f.na) AS na, sum(f.n_0) AS n_0, sum(f.n_1) AS n_1, sum(f.n_2) AS n_2,
    sum(f.unusable) AS unusable
FROM health_facets AS f
LEFT JOIN read AS r
    ON f.model = r.model AND f.model_revision = r.model_revision AND f.judge = r.judge AND f.lang = r.lang
    AND f.pillar = r.pillar
GROUP BY f.model, f.model_revision, f.judge, f.lang, f.pillar
