#!/usr/bin/env bash
# Whole commands on 1,000 prompts × 18 models with 1,800 characters of reasoning, in turn with the plain-Python reference;
# writes times, peak memory, machine, versions and commands to benches/runs. Needs GNU time, and `make release` before it.
#
#     benches/run.sh [RUNS]
set -euo pipefail
cd "$(dirname "$0")/.."
runs="${1:-5}"
target="${CARGO_TARGET_DIR:-target}"
binary="$target/release/scorelake"
# What is measured here is scoring; benches/statistics.sh measures the rest.
export SCORELAKE_INTERVALS=none
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
out="benches/runs/$(date -u +%Y-%m-%d)-qwen-image-bench.md"

data="$work/judged.jsonl"
"$binary" synth qwen-image-bench --rows 1000 --models 18 --think-chars 1800 -o "$data"

# Appends "seconds KiB" of one command to a file.
timed() { local to="$1"; shift; /usr/bin/time -a -o "$to" -f '%e %M' "$@" >"$work/stdout" 2>"$work/stderr"; }
# Median seconds and greatest MiB of a file.
median() { sort -n "$1" | awk '{s[NR]=$1; if ($2>m) m=$2} END {printf "%.2f %d", s[int((NR+1)/2)], m/1024}'; }

for _ in $(seq "$runs"); do
    rm -rf "$work/lake" "$work/lean"
    timed "$work/run" "$binary" --lake "$work/lake" run qwen-image-bench "$data"
    timed "$work/score" "$binary" --lake "$work/lake" score qwen-image-bench
    timed "$work/lean-run" "$binary" --lake "$work/lean" run qwen-image-bench "$data" --no-raw
    timed "$work/python" python3 benches/baseline/qwen_image_bench.py "$data" data/taxonomy/qwen-image-bench.csv
    timed "$work/select" "$binary" --lake "$work/lake" sql 'select 1'
done

python_seconds="$(median "$work/python" | cut -d' ' -f1)"
row() {
    local seconds mib
    read -r seconds mib <<<"$(median "$work/$2")"
    awk -v name="$1" -v s="$seconds" -v m="$mib" -v p="$python_seconds" 'BEGIN {printf "| %s | %.2f | %d | %.2f |\n", name, s, m, p/s}'
}
{
    echo "# Qwen-Image-Bench, 1,000 × 18, $(date -u +%Y-%m-%d)"
    echo
    echo "Made by \`benches/run.sh $runs\`: medians of $runs runs, all commands in turn; greatest peak memory."
    echo
    echo "- data: \`synth qwen-image-bench --rows 1000 --models 18 --think-chars 1800\`, $(stat -c %s "$data") bytes"
    echo "- machine: $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(awk '/MemTotal/ {printf "%.0f GiB", $2/1048576}' /proc/meminfo)"
    echo "- $("$binary" --version), $(rustc --version), $(python3 --version)"
    echo
    echo "| command | seconds | peak MiB | Python's seconds / these |"
    echo "| --- | ---: | ---: | ---: |"
    row "scorelake run, file to leaderboard, raw text kept" run
    row "scorelake run --no-raw" lean-run
    row "scorelake score, a lake to all result tables" score
    row "plain Python, the same totals, pillars and capabilities" python
    row "scorelake sql 'select 1'" select
} | tee "$out"
