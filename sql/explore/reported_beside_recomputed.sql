-- name: reported_beside_recomputed
-- question: How do the board in the lake and the published one stand side by side?
-- grain: one row of either board
-- key: lang, origin, display_name, model
-- output: explore
-- A reported row is a figure of the paper: it has no prompts behind it, and so no n and no place among the recomputed ranks.
SELECT 'recomputed' AS origin, b.rank, b.display_name, b.lang, b.overall, b.n, b.model
FROM qwen_image_bench.leaderboard AS b
UNION ALL
SELECT
    'reported' AS origin, p.rank, p.model AS display_name, 'cn' AS lang, p.overall,
    CAST(NULL AS BIGINT) AS n, '' AS model
FROM published.qwen_image_bench_leaderboard AS p
ORDER BY lang, origin, rank NULLS LAST, display_name, model
