-- name: published_reachable
-- question: Is every published cell a share k / n of at most the benchmark's number of prompts, to the digits printed?
-- grain: one cell that is not
-- key: model, cell
-- output: check
WITH cells AS (
    SELECT model, 'interaction' AS cell, interaction AS score, $nominal_all AS most FROM published.magicbench_scores
    UNION ALL
    SELECT model, 'overall' AS cell, overall AS score, $nominal_all AS most FROM published.magicbench_scores
    UNION ALL
    SELECT model, 'human' AS cell, human AS score, $nominal_human AS most FROM published.magicbench_scores
    UNION ALL
    SELECT model, 'animal' AS cell, animal AS score, $nominal_animal AS most FROM published.magicbench_scores
    UNION ALL
    SELECT model, 'object' AS cell, object AS score, $nominal_object AS most FROM published.magicbench_scores
),

bases AS (
    SELECT unnest(range(1, $nominal_all + 1)) AS n
),

fits AS (
    SELECT DISTINCT c.model, c.cell
    FROM cells AS c
    JOIN bases AS b ON b.n <= c.most
    WHERE c.score <= 100.0 AND abs(100.0 * round(c.score * b.n / 100.0) / b.n - c.score) <= 0.005 + 0.000000001
)

SELECT c.model, c.cell, c.score
FROM cells AS c
LEFT ANTI JOIN fits AS f ON c.model = f.model AND c.cell = f.cell
ORDER BY c.model, c.cell
