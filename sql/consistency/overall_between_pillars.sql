-- name: overall_between_pillars
-- question: Does the overall score lie between the lowest and the highest pillar?
-- grain: one model
-- key: line, figure
-- output: consistency
-- needs: model, quality, aesthetics, alignment, real_world_fidelity, creative_generation, overall
-- overall is a mean over prompts of the pillars that each has: any number between the pillars, and not their mean.
WITH rows AS (
    SELECT
        line,
        model,
        overall,
        overall_half,
        least(
            quality - quality_half, aesthetics - aesthetics_half, alignment - alignment_half,
            real_world_fidelity - real_world_fidelity_half, creative_generation - creative_generation_half
        ) AS lowest,
        greatest(
            quality + quality_half, aesthetics + aesthetics_half, alignment + alignment_half,
            real_world_fidelity + real_world_fidelity_half, creative_generation + creative_generation_half
        ) AS highest
    FROM published
)

SELECT
    line,
    model AS row,
    'overall' AS figure,
    overall AS printed,
    lowest - overall_half AS low,
    highest + overall_half AS high
FROM rows
WHERE overall IS NOT NULL
ORDER BY line
