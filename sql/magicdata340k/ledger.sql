-- name: ledger
-- question: What became of each labelled image and each prediction?
-- grain: one assessor, or the labels of people, in all and by split
-- key: assessor, model_revision, level, item
-- output: table
-- expected = ok + missing + invalid + parse_failed + skipped. For an assessor, missing are images without a prediction and predictions
-- without a text.
WITH labelled AS (
    SELECT split, outcome, count(*) AS n
    FROM images
    WHERE $split = '' OR split = $split
    GROUP BY split, outcome
),

aside AS (
    SELECT kind, assessor, model_revision, split, count(*) AS n
    FROM set_aside
    WHERE kind <> 'generator' AND ($split = '' OR split = $split)
    GROUP BY kind, assessor, model_revision, split
),

odd AS (
    SELECT split, count(*) AS n
    FROM (
        SELECT DISTINCT split, image
        FROM labels
        WHERE state = 'unknown' AND ($split = '' OR split = $split)
    ) AS images_with
    GROUP BY split
),

people AS (
    SELECT
        '' AS assessor,
        '' AS model_revision,
        l.split,
        sum(l.n) AS expected,
        sum(CASE WHEN l.outcome = 'ok' THEN l.n ELSE 0 END) AS ok,
        sum(CASE WHEN l.outcome = 'invalid' THEN l.n ELSE 0 END) AS invalid,
        sum(CASE WHEN l.outcome = 'parse_failed' THEN l.n ELSE 0 END) AS parse_failed,
        CAST(0 AS BIGINT) AS unexpected,
        coalesce(max(o.n), 0) AS unknown,
        coalesce(max(a.n), 0) AS duplicate
    FROM labelled AS l
    LEFT JOIN odd AS o ON l.split = o.split
    LEFT JOIN (SELECT split, n FROM aside WHERE kind = 'labels') AS a ON l.split = a.split
    GROUP BY l.split
),

usable AS (
    SELECT split, n AS expected
    FROM labelled
    WHERE outcome = 'ok'
),

found AS (
    SELECT
        assessor,
        model_revision,
        split,
        sum(CASE WHEN outcome = 'ok' THEN n ELSE 0 END) AS ok,
        sum(CASE WHEN outcome = 'invalid' THEN n ELSE 0 END) AS invalid,
        sum(CASE WHEN outcome = 'parse_failed' THEN n ELSE 0 END) AS parse_failed
    FROM (
        SELECT
            assessor,
            model_revision,
            split,
            n,
            CASE WHEN $reading = 'exact' THEN exact_outcome ELSE keywords_outcome END AS outcome
        FROM outcome_patterns
    ) AS readings
    GROUP BY assessor, model_revision, split
),

asked AS (
    SELECT assessor, model_revision, split, count(*) AS n
    FROM predictions
    WHERE $split = '' OR split = $split OR split = ''
    GROUP BY assessor, model_revision, split
),

-- The splits that an assessor predicted in: those its files tell, or those in which images of its were found.
covered AS (
    SELECT assessor, model_revision, split FROM found
    UNION
    SELECT a.assessor, a.model_revision, a.split FROM asked AS a JOIN usable AS u ON a.split = u.split
),

matched AS (
    SELECT assessor, model_revision, told_split, sum(n) AS n
    FROM outcome_patterns
    GROUP BY assessor, model_revision, told_split
),

-- A prediction that tells its split is matched once or not at all; one that tells none may be matched in several.
strangers AS (
    SELECT a.assessor, a.model_revision, a.split, a.n - coalesce(m.n, 0) AS n
    FROM asked AS a
    LEFT JOIN matched AS m ON a.assessor = m.assessor AND a.model_revision = m.model_revision AND a.split = m.told_split
    WHERE a.split <> ''
    UNION ALL
    SELECT p.assessor, p.model_revision, p.split, count(*) AS n
    FROM predictions AS p
    LEFT ANTI JOIN gold AS g ON p.image = g.image
    WHERE p.split = ''
    GROUP BY p.assessor, p.model_revision, p.split
),

assessors AS (
    SELECT
        c.assessor,
        c.model_revision,
        c.split,
        u.expected,
        coalesce(f.ok, 0) AS ok,
        coalesce(f.invalid, 0) AS invalid,
        coalesce(f.parse_failed, 0) AS parse_failed,
        CAST(0 AS BIGINT) AS unexpected,
        CAST(0 AS BIGINT) AS unknown,
        coalesce(a.n, 0) AS duplicate
    FROM covered AS c
    JOIN usable AS u ON c.split = u.split
    LEFT JOIN found AS f ON c.assessor = f.assessor AND c.model_revision = f.model_revision AND c.split = f.split
    LEFT JOIN (SELECT * FROM aside WHERE kind = 'prediction') AS a
        ON c.assessor = a.assessor AND c.model_revision = a.model_revision AND c.split = a.split
    UNION ALL
    SELECT
        assessor, model_revision, split,
        CAST(0 AS BIGINT) AS expected, CAST(0 AS BIGINT) AS ok, CAST(0 AS BIGINT) AS invalid, CAST(0 AS BIGINT) AS parse_failed,
        n AS unexpected, CAST(0 AS BIGINT) AS unknown, CAST(0 AS BIGINT) AS duplicate
    FROM strangers
    WHERE n > 0
    UNION ALL
    SELECT
        a.assessor, a.model_revision, a.split,
        CAST(0 AS BIGINT) AS expected, CAST(0 AS BIGINT) AS ok, CAST(0 AS BIGINT) AS invalid, CAST(0 AS BIGINT) AS parse_failed,
        CAST(0 AS BIGINT) AS unexpected, CAST(0 AS BIGINT) AS unknown, a.n AS duplicate
    FROM aside AS a
    LEFT ANTI JOIN (SELECT c.assessor, c.model_revision, c.split FROM covered AS c JOIN usable AS u ON c.split = u.split) AS k
        ON a.assessor = k.assessor AND a.model_revision = k.model_revision AND a.split = k.split
    WHERE a.kind = 'prediction'
),

everyone AS (
    SELECT * FROM people
    UNION ALL
    SELECT * FROM assessors
),

items AS (
    SELECT *, 'all' AS level, '' AS item FROM everyone
    UNION ALL
    SELECT *, 'split' AS level, coalesce(nullif(split, ''), '(none)') AS item FROM everyone
)

SELECT
    assessor,
    level,
    item,
    sum(expected) AS expected,
    sum(ok) AS ok,
    sum(expected - ok - invalid - parse_failed) AS missing,
    sum(invalid) AS invalid,
    sum(parse_failed) AS parse_failed,
    CAST(0 AS BIGINT) AS skipped,
    sum(unexpected) AS unexpected,
    sum(unknown) AS unknown,
    sum(duplicate) AS duplicate,
    model_revision
FROM items
GROUP BY assessor, model_revision, level, item
ORDER BY assessor, model_revision, level, item
