"""The nested group-bys of the official reading by DuckDB, over a lake's judgments, with the same result tables written sorted.

For comparison only; needs `pip install duckdb`. Plain means (AVG), no ledger, no repairs, no digests.

    python3 benches/baseline/duckdb_group_bys.py LAKE OUT_FOLDER [THREADS]
"""

import glob
import sys
import time

import duckdb

lake, out = sys.argv[1:3]
connection = duckdb.connect()
connection.execute(f"SET threads = {int(sys.argv[3]) if len(sys.argv) > 3 else 2}")
files = glob.glob(f"{lake}/datasets/qwen-image-bench/judgments/*.parquet")
points = "CASE value_official WHEN 0 THEN 0.0 WHEN 1 THEN 60.0 WHEN 2 THEN 100.0 END"
cells = f"(SELECT *, {points} AS score FROM read_parquet({files}) WHERE state_official = 'ok')"
entry = "model, model_revision, judge, lang"

start = time.time()
TABLES = [
    ("capability_scores", cells, f"{entry}, prompt_id, pillar, capability_official"),
    ("pillar_scores", "capability_scores", f"{entry}, prompt_id, pillar"),
    ("prompt_scores", "pillar_scores", f"{entry}, prompt_id"),
    ("leaderboard", "prompt_scores", entry),
    ("by_pillar", "pillar_scores", f"{entry}, pillar"),
    ("by_capability", "capability_scores", f"{entry}, pillar, capability_official"),
    ("by_facet", cells, f"{entry}, pillar, capability_official, facet_official"),
]
for table, source, key in TABLES:
    connection.execute(f"CREATE TABLE {table} AS SELECT {key}, avg(score) AS score, count(*) AS n FROM {source} GROUP BY {key}")
grouped = time.time() - start
for table, _, key in TABLES:
    connection.execute(f"COPY (SELECT * FROM {table} ORDER BY {key}) TO '{out}/{table}.parquet' (CODEC zstd)")
print(f"group-bys {grouped:.2f} s, with sorted Parquet {time.time() - start:.2f} s")
