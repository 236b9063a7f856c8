-- name: boards_against_published
-- question: How far are the boards of MagicBench in the lake from the published one?
-- grain: one model
-- key: model
-- output: explore
SELECT
    b.model,
    b.n_valid,
    b.coverage,
    b.overall,
    p.overall AS published_overall,
    b.overall - p.overall AS difference
FROM magicbench.leaderboard AS b
JOIN published.magicbench_scores AS p ON b.display_name = p.model
ORDER BY b.model
