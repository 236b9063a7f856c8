-- name: leaderboard
-- question: Which model is best, on how many prompts, and how much of the benchmark does its score cover?
-- grain: one model, revision, judge and language
-- key: model, model_revision, judge, lang
-- output: table
-- overall is the mean over prompts of each prompt's mean of pillars; it is not the mean of the five pillar columns.
WITH totals AS (
    SELECT
        model,
        model_revision,
        judge,
        lang,
        exact_avg(overall) AS overall,
        count(overall) AS n,
        count(CASE WHEN n_active IS NOT NULL THEN overall END) AS n_covered,
        count(CASE WHEN complete THEN overall END) AS n_complete
    FROM prompt_scores
    GROUP BY model, model_revision, judge, lang
),

pillars AS (
    SELECT
        model,
        model_revision,
        judge,
        lang,
        max(CASE WHEN pillar = 'Quality' THEN score END) AS quality,
        max(CASE WHEN pillar = 'Aesthetics' THEN score END) AS aesthetics,
        max(CASE WHEN pillar = 'Alignment' THEN score END) AS alignment,
        max(CASE WHEN pillar = 'Creative Generation' THEN score END) AS creative_generation,
        max(CASE WHEN pillar = 'Real-world Fidelity' THEN score END) AS real_world_fidelity
    FROM by_pillar
    GROUP BY model, model_revision, judge, lang
),

expected AS (
    SELECT nullif(count(*), 0) AS n_expected
    FROM prompts
    WHERE has_metadata
),

board AS (
    SELECT
        e.model,
        e.model_revision,
        e.judge,
        e.lang,
        coalesce(d.display_name, e.model) AS display_name,
        t.overall,
        p.quality,
        p.aesthetics,
        p.alignment,
        p.creative_generation,
        p.real_world_fidelity,
        coalesce(t.n, 0) AS n,
        x.n_expected,
        CASE WHEN x.n_expected IS NOT NULL THEN coalesce(t.n_complete, 0) END AS n_complete,
        CAST(coalesce(t.n_covered, 0) AS DOUBLE) / x.n_expected AS coverage
    FROM entries AS e
    CROSS JOIN expected AS x
    LEFT JOIN totals AS t
        ON e.model = t.model AND e.model_revision = t.model_revision AND e.judge = t.judge AND e.lang = t.lang
    LEFT JOIN pillars AS p
        ON e.model = p.model AND e.model_revision = p.model_revision AND e.judge = p.judge AND e.lang = p.lang
    LEFT JOIN display_names AS d ON e.model = d.model
),

eligible AS (
    SELECT
        *,
        overall IS NOT NULL AND coalesce(coverage, 1.0) >= $min_coverage AS is_ranked
    FROM board
)

SELECT
    CASE
        WHEN is_ranked
            THEN CAST(rank() OVER (PARTITION BY lang, judge, is_ranked ORDER BY overall DESC NULLS LAST) AS BIGINT)
    END AS rank,
    model,
    display_name,
    lang,
    overall,
    quality,
    aesthetics,
    alignment,
    creative_generation,
    real_world_fidelity,
    n,
    n_expected,
    n_complete,
    coverage,
    model_revision,
    judge
FROM eligible
ORDER BY lang, judge, rank NULLS LAST, model, model_revision
