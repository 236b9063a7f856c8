-- name: rated
-- question: Which ratings count, and on which place and spread are they standardised?
-- grain: one rating
-- key: target, session, subject, item
-- output: memory
-- subject_session: each subject's ratings of a session are standardised by that subject's mean and sample deviation in it.
-- session_means: ratings are standardised by the mean and sample deviation of the session's item means, which is how AGIQA-3K's
-- published columns were made. A rating further than $outlier_sd deviations from its item's mean in the session is left out before.
WITH values_of AS (
    SELECT target, session, subject, item, score
    FROM ratings
    WHERE state = 'ok'
),

item_means AS (
    SELECT target, session, item, count(*) AS n, exact_avg(score) AS mean
    FROM values_of
    GROUP BY target, session, item
),

item_spreads AS (
    SELECT v.target, v.session, v.item, sqrt(exact_sum((v.score - m.mean) * (v.score - m.mean)) / nullif(max(m.n) - 1, 0)) AS sd
    FROM values_of AS v
    JOIN item_means AS m ON v.target = m.target AND v.session = m.session AND v.item = m.item
    GROUP BY v.target, v.session, v.item
),

judged AS (
    SELECT
        v.target,
        v.session,
        v.subject,
        v.item,
        v.score,
        $outlier_sd > 0.0 AND m.n > 2 AND abs(v.score - m.mean) > $outlier_sd * s.sd AS is_outlier
    FROM values_of AS v
    JOIN item_means AS m ON v.target = m.target AND v.session = m.session AND v.item = m.item
    JOIN item_spreads AS s ON v.target = s.target AND v.session = s.session AND v.item = s.item
),

units AS (
    SELECT
        target,
        session,
        CASE WHEN $protocol = 'subject_session' THEN subject ELSE '' END AS unit,
        item,
        exact_avg(score) AS value
    FROM judged
    WHERE NOT coalesce(is_outlier, FALSE)
    GROUP BY target, session, CASE WHEN $protocol = 'subject_session' THEN subject ELSE '' END, item
),

places AS (
    SELECT target, session, unit, count(*) AS n, exact_avg(value) AS place
    FROM units
    GROUP BY target, session, unit
),

spreads AS (
    SELECT
        u.target,
        u.session,
        u.unit,
        max(p.place) AS place,
        sqrt(exact_sum((u.value - p.place) * (u.value - p.place)) / nullif(max(p.n) - 1, 0)) AS spread
    FROM units AS u
    JOIN places AS p ON u.target = p.target AND u.session = p.session AND u.unit = p.unit
    GROUP BY u.target, u.session, u.unit
)

SELECT
    j.target,
    j.session,
    j.subject,
    j.item,
    CASE
        WHEN coalesce(j.is_outlier, FALSE) THEN 'outlier'
        WHEN coalesce(s.spread, 0.0) = 0.0 THEN 'constant'
        ELSE 'ok'
    END AS state,
    CASE WHEN NOT coalesce(j.is_outlier, FALSE) AND s.spread > 0.0 THEN (j.score - s.place) / s.spread END AS z
FROM judged AS j
LEFT JOIN spreads AS s
    ON j.target = s.target AND j.session = s.session
    AND CASE WHEN $protocol = 'subject_session' THEN j.subject ELSE '' END = s.unit
