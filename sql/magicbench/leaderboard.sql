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

bases AS (
    SELECT
        *,
        CASE WHEN $denominators = 'nominal' THEN $nominal_all ELSE n_valid END AS of_all,
        CASE WHEN $denominators = 'nominal' THEN $nominal_human ELSE n_human END AS of_human,
        CASE WHEN $denominators = 'nominal' THEN $nominal_animal ELSE n_animal END AS of_animal,
        CASE WHEN $denominators = 'nominal' THEN $nominal_object ELSE n_object END AS of_object,
        CASE WHEN $class_flags = 'own' THEN own_human ELSE with_human END AS of_flags_human,
        CASE WHEN $class_flags = 'own' THEN own_animal ELSE with_animal END AS of_flags_animal,
        CASE WHEN $class_flags = 'own' THEN own_object ELSE with_object END AS of_flags_object
    FROM counts
),

board AS (
    SELECT
        b.model,
        b.model_revision,
        b.judge,
        coalesce(d.display_name, b.model) AS display_name,
        CASE WHEN b.n_valid > 0 OR $denominators = 'nominal' AND b.with_interaction > 0 THEN 100.0 * CAST(b.of_all - b.with_interaction AS DOUBLE) / nullif(b.of_all, 0) END AS interaction,
        CASE WHEN b.n_human > 0 OR $denominators = 'nominal' AND b.of_flags_human > 0 THEN 100.0 * CAST(b.of_human - b.of_flags_human AS DOUBLE) / nullif(b.of_human, 0) END AS human,
        CASE WHEN b.n_animal > 0 OR $denominators = 'nominal' AND b.of_flags_animal > 0 THEN 100.0 * CAST(b.of_animal - b.of_flags_animal AS DOUBLE) / nullif(b.of_animal, 0) END AS animal,
        CASE WHEN b.n_object > 0 OR $denominators = 'nominal' AND b.of_flags_object > 0 THEN 100.0 * CAST(b.of_object - b.of_flags_object AS DOUBLE) / nullif(b.of_object, 0) END AS object,
        CASE WHEN b.n_valid > 0 OR $denominators = 'nominal' AND b.with_artifact > 0 THEN 100.0 * CAST(b.of_all - b.with_artifact AS DOUBLE) / nullif(b.of_all, 0) END AS overall,
        b.n,
        b.n_valid,
        b.n_human,
        b.n_animal,
        b.n_object,
        CASE WHEN b.n_human > 0 OR $denominators = 'nominal' AND b.own_human > 0 THEN 100.0 * CAST(b.of_human - b.own_human AS DOUBLE) / nullif(b.of_human, 0) END AS human_own,
        CASE WHEN b.n_animal > 0 OR $denominators = 'nominal' AND b.own_animal > 0 THEN 100.0 * CAST(b.of_animal - b.own_animal AS DOUBLE) / nullif(b.of_animal, 0) END AS animal_own,
        CASE WHEN b.n_object > 0 OR $denominators = 'nominal' AND b.own_object > 0 THEN 100.0 * CAST(b.of_object - b.own_object AS DOUBLE) / nullif(b.of_object, 0) END AS object_own,
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
