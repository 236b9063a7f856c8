#!/usr/bin/env bash
# MagicData340K at the published size and at 10 million images, and agreement at 1 million pairs; each command once or a few times,
# median seconds and greatest memory, written to benches/runs. Needs GNU time, 12 GB of disk, and `make release` before it.
#
#     benches/datasets.sh [RUNS]
set -euo pipefail
cd "$(dirname "$0")/.."
runs="${1:-3}"
binary="${CARGO_TARGET_DIR:-target}/release/scorelake"
# What is measured here is scoring; benches/statistics.sh measures the rest.
export SCORELAKE_INTERVALS=none
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
out="benches/runs/$(date -u +%Y-%m-%d)-datasets.md"

# Appends "seconds KiB" of one command to a file.
timed() { local to="$1"; shift; /usr/bin/time -a -o "$work/$to" -f '%e %M' "$@" >"$work/stdout" 2>"$work/stderr" || { cat "$work/stderr" >&2; return 1; }; }
row() {
    sort -n "$work/$2" | awk -v name="$1" '{s[NR]=$1; if ($2>m) m=$2} END {printf "| %s | %.2f | %d |\n", name, s[int((NR+1)/2)], m/1024}'
}
magic() { # size, times, label
    local rows="$1" times="$2" lake="$work/lake-$1"
    "$binary" synth magicdata340k --split test --rows "$rows" --think-chars 40 --predictions-out "$work/said_test.jsonl" -o "$work/labels_test.jsonl"
    for _ in $(seq "$times"); do
        rm -rf "$lake"
        timed "ingest-$rows" "$binary" --lake "$lake" ingest magicdata340k "$work/labels_test.jsonl" "$work/said_test.jsonl" --model A
        timed "score-$rows" "$binary" --lake "$lake" score magicdata340k
    done
    du -m "$work/labels_test.jsonl" "$work/said_test.jsonl" | awk '{m+=$1} END {print m}' >"$work/size-$rows"
    rm -rf "$work/said_test.jsonl" "$work/labels_test.jsonl" "$lake"
}

magic 343269 "$runs"
magic 10000000 1
"$binary" synth agiqa-3k --rows 100000 --predictions-out "$work/metrics.csv" -o "$work/data.csv"
"$binary" --lake "$work/agiqa" ingest agiqa-3k "$work/data.csv" "$work/metrics.csv" -q
pairs="FROM agiqa_3k.predictions AS p JOIN agiqa_3k.images AS i ON p.name = i.name WHERE p.metric = 'CurveScore'"
for _ in $(seq "$runs"); do
    timed join "$binary" --threads 1 --lake "$work/agiqa" sql "SELECT count(p.value + i.mos_quality) $pairs"
    for measure in srcc krcc plcc agreement; do
        timed "$measure" "$binary" --threads 1 --lake "$work/agiqa" sql --format json "SELECT $measure(p.value, i.mos_quality) $pairs"
    done
done
{
    echo "# The other datasets, $(date -u +%Y-%m-%d)"
    echo
    echo "\`benches/datasets.sh $runs\`: median seconds of $runs runs (10 million: one), greatest resident memory. $(nproc) cores,"
    echo "$("$binary" --version), $(rustc --version). Predictions have 40 characters of reasoning; files of $(cat "$work/size-343269") and"
    echo "$(cat "$work/size-10000000") MB."
    echo
    echo "Joins of more rows than the memory limit (2 GiB) is sure to hold, about 8 million, sort and spill instead of hashing one side: that"
    echo "is why scoring 10 million takes more than 29 times as long. The allocator keeps what threads have freed, so resident memory is above"
    echo "the engine's own limit."
    echo
    echo "| command | seconds | MiB |"
    echo "| --- | --- | --- |"
    row "ingest magicdata340k, 343,269 images with predictions" ingest-343269
    row "score magicdata340k, 343,269" score-343269
    row "ingest magicdata340k, 10,000,000 images with predictions" ingest-10000000
    row "score magicdata340k, 10,000,000" score-10000000
    row "sql, 1,000,000 pairs read and joined, 1 thread" join
    row "sql, the same and srcc" srcc
    row "sql, the same and krcc" krcc
    row "sql, the same and plcc" plcc
    row "sql, the same and agreement: all three, the logistic fit" agreement
} >"$out"
cat "$out"
