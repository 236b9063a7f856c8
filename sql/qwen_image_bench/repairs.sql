-- name: repairs
-- question: How many replies were repaired, and how?
-- grain: one kind of repair of one model, pillar and reading
-- key: model, model_revision, judge, lang, pillar, kind, protocol
-- output: table
-- Both readings stand here whatever the protocol, since the difference between them explains a difference of scores.
WITH kinds AS (
    SELECT
        model, model_revision, judge, lang, pillar, 'strict' AS protocol,
        unnest(string_to_array(repairs, ',')) AS kind
    FROM replies
    WHERE repairs <> '' AND NOT is_set_aside
    UNION ALL
    SELECT
        model, model_revision, judge, lang, pillar, 'official' AS protocol,
        unnest(string_to_array(repairs_official, ',')) AS kind
    FROM replies
    WHERE repairs_official <> '' AND NOT is_set_aside
)

SELECT
    model,
    lang,
    pillar,
    kind,
    protocol,
    count(*) AS n,
    model_revision,
    judge
FROM kinds
GROUP BY model, model_revision, judge, lang, pillar, kind, protocol
ORDER BY model, model_revision, judge, lang, pillar, kind, protocol
