#!/usr/bin/env bash
# What knowing how sure the numbers are costs, and what it keeps its promise on; written to benches/runs. Needs `make release` before it.
#
#     benches/statistics.sh [RUNS]
#
# 1. Qwen-Image-Bench of 18 models: `score` with the default intervals (10,000 replicates of leaderboard and pillars), with the stages'
#    own seconds, for 1,000, 2,000 and 4,000 prompts, on all cores and on one.
# 2. 100 seeds of two models of equal skill, and 100 of two that differ, 200 prompts each: how often both share a rank group.
set -euo pipefail
cd "$(dirname "$0")/.."
runs="${1:-3}"
binary="${CARGO_TARGET_DIR:-target}/release/scorelake"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
out="benches/runs/$(date -u +%Y-%m-%d)-statistics.md"

# Median of numbers, one a line.
median() { sort -n | awk '{v[NR]=$1} END {printf "%.2f", v[int((NR+1)/2)]}'; }
# Seconds of one stage as `score -v` tells them.
stage() { tr ',' '\n' <"$work/told" | sed -n "s/.*\b$1 \([0-9.]*\)\$/\1/p" | tail -1; }

{
    echo "# Intervals, ranks and sensitivity"
    echo
    echo "\`benches/statistics.sh $runs\` on $(date -u +%Y-%m-%d), $(nproc) cores; medians of $runs runs, seconds."
    echo
    echo "| prompts x 18 models | threads | whole \`score\`, --intervals none | whole \`score\`, default | intervals and standings | sensitivity |"
    echo "| --- | --- | --- | --- | --- | --- |"
} >"$out"
for prompts in 1000 2000 4000; do
    "$binary" synth qwen-image-bench --rows "$prompts" --think-chars 40 --metadata-out "$work/bench_metadata.json" -o "$work/r.jsonl"
    rm -rf "$work/lake"
    "$binary" --lake "$work/lake" ingest qwen-image-bench "$work/r.jsonl" "$work/bench_metadata.json" -q
    for threads in "$(nproc)" 1; do
        : >"$work/none"; : >"$work/default"; : >"$work/intervals"; : >"$work/sensitivity"
        for _ in $(seq "$runs"); do
            for spec in none default; do
                start="$(date +%s.%N)"
                "$binary" --lake "$work/lake" --threads "$threads" score qwen-image-bench --intervals "$spec" -v >/dev/null 2>"$work/stderr"
                echo "$(date +%s.%N) $start" | awk '{print $1-$2}' >>"$work/$spec"
            done
            grep '^seconds:' "$work/stderr" >"$work/told"
            stage intervals >>"$work/intervals"
            stage sensitivity >>"$work/sensitivity"
        done
        echo "| $prompts | $threads | $(median <"$work/none") | $(median <"$work/default") | $(median <"$work/intervals") | $(median <"$work/sensitivity") |" >>"$out"
    done
done

# How many of 100 seeds put both models into one group.
together() { # gap
    local count=0
    for seed in $(seq 100); do
        rm -rf "$work/lake"
        "$binary" synth qwen-image-bench --rows 200 --models 2 --gap "$1" --seed "$seed" --think-chars 0 -o "$work/r.jsonl"
        "$binary" --lake "$work/lake" run qwen-image-bench "$work/r.jsonl" --intervals overall -q >/dev/null
        count=$((count + $("$binary" --lake "$work/lake" sql --format csv \
            "SELECT CAST(count(DISTINCT rank_group) = 1 AS BIGINT) AS n FROM qwen_image_bench.standings" | tail -1)))
    done
    echo "$count"
}
{
    echo
    echo "| skill of the second of two models (\`synth --gap\`), 200 prompts | seeds of 100 in which both share a rank group |"
    echo "| --- | --- |"
    for gap in 0 0.02 0.05 0.1; do
        echo "| $gap below the first | $(together "$gap") |"
    done
} >>"$out"
cat "$out"
