#!/usr/bin/env bash
# A lake of about a gigabyte on disk and the same lake in an S3 server on loopback: whole commands, taken in turn, median seconds and
# their ratio, written to benches/runs. The server is s3s-fs; as it copies bytes in pieces of 4 KiB, at the cost of a whole core for 150 MB/s of the
# two that are measured, nginx stands before it and gives the bytes of Parquet files itself, out of the same folder (`plain`: without it).
# Needs hyperfine, jq, nginx, `make s3-server`, 12 GB of disk, and `make release` before it.
#
#     benches/stores.sh [RUNS [plain]]
set -euo pipefail
cd "$(dirname "$0")/.."
runs="${1:-5}"
target="${CARGO_TARGET_DIR:-target}"
binary="$target/release/scorelake"
# What is measured here is reading; benches/statistics.sh measures the rest.
export SCORELAKE_INTERVALS=none
work="$(mktemp -d)"
server=""
front=""
trap 'for process in $server $front; do kill "$process"; done; rm -rf "$work"' EXIT
out="benches/runs/$(date -u +%Y-%m-%d)-stores${2:+-$2}.md"

port=8114
mkdir -p "$work/s3/bucket"
RUST_LOG=off "$target/servers/bin/s3s-fs" --host 127.0.0.1 --port "$port" --access-key AKIDBENCH --secret-key bench "$work/s3" >"$work/server.log" 2>&1 &
server=$!
until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.1; done
served="s3s-fs 0.14.1"
if [ "${2:-}" != plain ]; then
    cat >"$work/nginx.conf" <<NGINX
daemon off;
user root;
pid $work/nginx.pid;
error_log $work/nginx.log;
events {}
http {
    access_log off;
    client_max_body_size 0;
    client_body_temp_path $work/body;
    proxy_temp_path $work/proxy;
    sendfile on;
    tcp_nodelay on;
    server {
        listen 127.0.0.1:8115;
        location / { proxy_pass http://127.0.0.1:$port; proxy_set_header Host \$http_host; proxy_request_buffering off; }
        location ~ \.parquet$ {
            error_page 418 = @server;
            if (\$request_method !~ ^(GET|HEAD)$) { return 418; }
            root $work/s3;
        }
        location @server { proxy_pass http://127.0.0.1:$port; proxy_set_header Host \$http_host; proxy_request_buffering off; }
    }
}
NGINX
    chmod 755 "$work"
    nginx -c "$work/nginx.conf" &
    front=$!
    port=8115
    served="$served behind $(nginx -v 2>&1 | sed 's/.*: //'), which gives the Parquet files"
    until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do sleep 0.1; done
fi
export AWS_ACCESS_KEY_ID=AKIDBENCH AWS_SECRET_ACCESS_KEY=bench AWS_REGION=us-east-1 AWS_ENDPOINT_URL="http://127.0.0.1:$port"
export SCORELAKE_CACHE="$work/cache"

disk="$work/lake"
bucket=s3://bucket/lake
"$binary" synth qwen-image-bench --rows 1000 --models 18 --think-chars 3600 --noise 0.02 -o "$work/responses.jsonl"
for revision in $(seq 14); do
    "$binary" -q --lake "$disk" ingest qwen-image-bench "$work/responses.jsonl" --model-revision "r$revision"
done
rm "$work/responses.jsonl"
"$binary" -q --lake "$disk" score qwen-image-bench
hyperfine --runs 1 --export-json "$work/copy.json" "$binary -q --lake $disk lake copy $bucket" >/dev/null
size="$(du -sm "$disk/datasets" | cut -f1)"

all="SELECT count(*), sum(length(text)), max(source_line) FROM qwen_image_bench_parts.responses"
few="SELECT model, count(*) FROM qwen_image_bench_parts.judgments WHERE capability = 'Realism' GROUP BY model ORDER BY model"
compared() { # name, arguments
    hyperfine --warmup 1 --runs "$runs" --export-json "$work/$1.json" \
        "$binary -q --lake $disk $2 >$work/disk.out" "$binary -q --lake $bucket $2 >$work/bucket.out" >/dev/null
    cmp "$work/disk.out" "$work/bucket.out"
}
compared all "sql \"$all\""
compared few "sql \"$few\""
compared score "score qwen-image-bench"
compared show "show qwen-image-bench"
row() { # file, label
    jq -r --arg name "$2" '.results | "| \($name) | \(.[0].median*100|round/100) | \(.[1].median*100|round/100) | \(.[1].median/.[0].median*100|round/100) |"' "$work/$1.json"
}
{
    echo "# A lake on disk and in a bucket, $(date -u +%Y-%m-%d)"
    echo
    echo "\`benches/stores.sh $runs\`: median seconds of $runs runs after one that warms up, in one run. $(nproc) cores, $("$binary" --version), $(rustc --version),"
    echo "$served, on loopback. The lake has $size MB of Parquet; copying it into the bucket, read back and verified, took"
    echo "$(jq -r '.results[0].median*10|round/10' "$work/copy.json") s. Both answers were the same to the byte."
    echo
    echo "| command | disk | bucket | bucket / disk |"
    echo "| --- | --- | --- | --- |"
    row all "\`sql\` over every text of the lake"
    row few "\`sql\` over two columns of the judgments"
    row score "\`score qwen-image-bench\`"
    row show "\`show qwen-image-bench\`"
} >"$out"
cat "$out"
