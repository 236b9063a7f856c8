-- name: ledger
-- question: What became of each question about each run's images?
-- grain: one run, in all, by level and by category
-- key: collection, run, model_revision, judge, level, item
-- output: table
-- expected = ok + missing + invalid + parse_failed + skipped, for every row.
WITH runs AS (
    SELECT DISTINCT collection, run, model_revision, judge FROM images
),

asked_collections AS (
    SELECT DISTINCT collection FROM questions
),

-- A question may stand several times about one image: each has its own place among those of its text.
answered AS (
    SELECT
        collection, run, model_revision, judge, prompt_index,
        level,
        question,
        coalesce(nullif(category, ''), '(none)') AS category,
        state,
        row_number() OVER (PARTITION BY collection, run, model_revision, judge, prompt_index, level, question ORDER BY position) AS occurrence
    FROM answers
),

asked AS (
    SELECT
        r.collection,
        r.run,
        r.model_revision,
        r.judge,
        q.prompt_index,
        q.level,
        q.question,
        coalesce(nullif(q.category, ''), '(none)') AS category,
        1 AS occurrence
    FROM runs AS r
    JOIN questions AS q ON r.collection = q.collection
    UNION ALL
    SELECT
        a.collection,
        a.run,
        a.model_revision,
        a.judge,
        a.prompt_index,
        a.level,
        a.question,
        a.category,
        a.occurrence
    FROM answered AS a
    LEFT ANTI JOIN asked_collections AS k ON a.collection = k.collection
),

matched AS (
    SELECT
        q.collection,
        q.run,
        q.model_revision,
        q.judge,
        q.level AS level_name,
        q.category,
        a.state,
        -- Beyond level 1 nothing is evaluated of a gated image, nor a good answer of one whose gate cannot be told.
        g.prompt_index IS NOT NULL AND coalesce(g.is_gated, coalesce(a.state, '') = 'ok') AND q.level <> 'level_1' AS is_skipped
    FROM asked AS q
    LEFT JOIN gates AS g
        ON q.collection = g.collection AND q.run = g.run AND q.model_revision = g.model_revision AND q.judge = g.judge
        AND q.prompt_index = g.prompt_index
    LEFT JOIN answered AS a
        ON q.collection = a.collection AND q.run = a.run AND q.model_revision = a.model_revision AND q.judge = a.judge
        AND q.prompt_index = a.prompt_index
        AND q.level = a.level AND q.question = a.question AND q.occurrence = a.occurrence
),

states AS (
    SELECT
        collection,
        run,
        model_revision,
        judge,
        level_name,
        category,
        CASE
            WHEN is_skipped THEN 'skipped'
            WHEN state IS NULL THEN 'missing'
            WHEN $invalid_answers = 'unknown' THEN 'ok'
            ELSE state
        END AS state,
        $invalid_answers = 'unknown' AND state <> 'ok' AND NOT is_skipped AS is_padded
    FROM matched
    UNION ALL
    SELECT
        a.collection,
        a.run,
        a.model_revision,
        a.judge,
        a.level AS level_name,
        a.category,
        'unexpected' AS state,
        FALSE AS is_padded
    FROM answered AS a
    JOIN asked_collections AS k ON a.collection = k.collection
    LEFT ANTI JOIN asked AS q
        ON a.collection = q.collection AND a.run = q.run AND a.model_revision = q.model_revision AND a.judge = q.judge
        AND a.prompt_index = q.prompt_index
        AND a.level = q.level AND a.question = q.question AND a.occurrence = q.occurrence
    UNION ALL
    SELECT
        a.collection,
        a.run,
        a.model_revision,
        a.judge,
        a.level AS level_name,
        coalesce(nullif(a.category, ''), '(none)') AS category,
        'duplicate' AS state,
        FALSE AS is_padded
    FROM fager_parts.answers AS a
    JOIN set_aside AS s ON a.source = s.source AND a.source_line = s.source_line
    WHERE s.kind = 'image'
),

items AS (
    SELECT *, 'all' AS level, '' AS item FROM states
    UNION ALL
    SELECT *, 'level' AS level, level_name AS item FROM states
    UNION ALL
    SELECT *, 'category' AS level, category AS item FROM states
)

SELECT
    collection,
    run,
    level,
    item,
    count(CASE WHEN state NOT IN ('unexpected', 'duplicate') THEN 1 END) AS expected,
    count(CASE WHEN state = 'ok' THEN 1 END) AS ok,
    count(CASE WHEN state = 'missing' THEN 1 END) AS missing,
    count(CASE WHEN state = 'invalid' THEN 1 END) AS invalid,
    count(CASE WHEN state = 'parse_failed' THEN 1 END) AS parse_failed,
    count(CASE WHEN state = 'skipped' THEN 1 END) AS skipped,
    count(CASE WHEN state = 'unexpected' THEN 1 END) AS unexpected,
    count(CASE WHEN state = 'duplicate' THEN 1 END) AS duplicate,
    count(CASE WHEN is_padded THEN 1 END) AS padded,
    model_revision,
    judge
FROM items
GROUP BY collection, run, model_revision, judge, level, item
ORDER BY collection, run, model_revision, judge, level, item
