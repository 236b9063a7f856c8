-- name: leaderboard
-- question: Which model makes the fewest artifacts, on how many records?
-- grain: one model, revision and judge
-- key: model, model_revision, judge
-- output: table
-- An empty class is null in every protocol. human, animal and object of official and nominal count flags on records of any class.
WITH expected AS (
    SELECT nullif(count(*), 0) AS n_expected
    FROM prompts
),

-- An empty class has no denominator: neither valid records of it nor, in nominal, records of it without subject.
bases AS (
    SELECT
        *,
        CASE
            WHEN $denominators <> 'nominal' THEN nullif(n_valid, 0)
            WHEN n_valid + with_artifact > 0 THEN $nominal_all
        END AS of_all,
        CASE
            WHEN $denominators <> 'nominal' THEN nullif(n_human, 0)
            WHEN n_human + own_human > 0 THEN $nominal_human
        END AS of_human,
        CASE
            WHEN $denominators <> 'nominal' THEN nullif(n_animal, 0)
            WHEN n_animal + own_animal > 0 THEN $nominal_animal
        END AS of_animal,
        CASE
            WHEN $denominators <> 'nominal' THEN nullif(n_object, 0)
            WHEN n_object + own_object > 0 THEN $nominal_object
        END AS of_object,
        CASE WHEN $class_flags = 'own' THEN own_human ELSE with_human END AS flags_human,
        CASE WHEN $class_flags = 'own' THEN own_animal ELSE with_animal END AS flags_animal,
        CASE WHEN $class_flags = 'own' THEN own_object ELSE with_object END AS flags_object
    FROM counts
),

board AS (
    SELECT
        b.model,
        b.model_revision,
        b.judge,
        coalesce(d.display_name, b.model) AS display_name,
        100.0 * CAST(b.of_all - b.with_interaction AS DOUBLE) / b.of_all AS interaction,
        100.0 * CAST(b.of_human - b.flags_human AS DOUBLE) / b.of_human AS human,
        100.0 * CAST(b.of_animal - b.flags_animal AS DOUBLE) / b.of_animal AS animal,
        100.0 * CAST(b.of_object - b.flags_object AS DOUBLE) / b.of_object AS object,
        100.0 * CAST(b.of_all - b.with_artifact AS DOUBLE) / b.of_all AS overall,
        b.n,
        b.n_valid,
        b.n_human,
        b.n_animal,
        b.n_object,
        100.0 * CAST(b.of_human - b.own_human AS DOUBLE) / b.of_human AS human_own,
        100.0 * CAST(b.of_animal - b.own_animal AS DOUBLE) / b.of_animal AS animal_own,
        100.0 * CAST(b.of_object - b.own_object AS DOUBLE) / b.of_object AS object_own,
        x.n_expected,
        CAST(b.n_covered AS DOUBLE) / x.n_expected AS coverage
    FROM bases AS b
    CROSS JOIN expected AS x
    LEFT JOIN display_names AS d ON b.model = d.model
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
            THEN CAST(rank() OVER (PARTITION BY judge, is_ranked ORDER BY overall DESC NULLS LAST) AS BIGINT)
    END AS rank,
    model,
    display_name,
    interaction,
    human,
    animal,
    object,
    overall,
    n,
    n_valid,
    n_human,
    n_animal,
    n_object,
    human_own,
    animal_own,
    object_own,
    n_expected,
    coverage,
    model_revision,
    judge
FROM eligible
ORDER BY judge, rank NULLS LAST, model, model_revision
