# Thin lines over cargo. `make` alone lists what there is.
CARGO ?= cargo
SCORELAKE = $(CARGO) run --quiet --
SERVERS = $(or $(CARGO_TARGET_DIR),target)/servers

.PHONY: help s3-server demo test lint fmt check release samples bench

help:            ## list the targets
	@grep -E '^[a-z0-9-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo:            ## build, run the five datasets' samples in a lake of their own
	$(CARGO) build
	@rm -rf demo-lake
	$(SCORELAKE) --lake demo-lake run qwen-image-bench data/samples/qwen-image-bench
	$(SCORELAKE) --lake demo-lake run magicdata340k data/samples/magicdata340k --model Sample-Assessor
	$(SCORELAKE) --lake demo-lake run magicbench data/samples/magicbench
	$(SCORELAKE) --lake demo-lake run agiqa-3k data/samples/agiqa-3k/data.csv data/samples/agiqa-3k/metrics.csv
	$(SCORELAKE) --lake demo-lake run fager data/samples/fager
	@echo
	@echo "Try next:"
	@echo "  cargo run -q -- --lake demo-lake show qwen-image-bench by_pillar"
	@echo "  cargo run -q -- --lake demo-lake show qwen-image-bench ledger --limit 6"
	@echo "  cargo run -q -- --lake demo-lake show agiqa-3k agreement --limit 12"
	@echo "  cargo run -q -- --lake demo-lake sql --query facets_that_separate"
	@echo "  cargo run -q -- --lake demo-lake run qwen-image-bench data/samples/own-model/mine_judged.csv --model Mine"
	@echo "  cargo run -q -- --lake demo-lake export qwen-image-bench --official demo-lake/official --xlsx demo-lake/board.xlsx"
	@echo "  cargo run -q -- --lake demo-lake snapshot verify qwen-image-bench"

test: s3-server  ## run all tests
	$(CARGO) test

s3-server:       ## install the S3 server that the tests of buckets start, beside the build; without it they are skipped
	@test -x "$(SERVERS)/bin/s3s-fs" || $(CARGO) install s3s-fs --version 0.14.1 --features binary --locked --root "$(SERVERS)"

lint:            ## formatting and lints, warnings are errors
	$(CARGO) fmt --check
	$(CARGO) clippy --all-targets -- -D warnings

fmt:             ## format the code
	$(CARGO) fmt

check:           ## check pipelines, SQL and schemas; with a lake, that both engines agree on it
	$(SCORELAKE) check

release:         ## the fast binary, target/release/scorelake
	$(CARGO) build --release

samples:         ## make data/samples again
	$(SCORELAKE) synth qwen-image-bench --rows 30 --models 4 --noise 0.03 --think-chars 120 --metadata-out data/samples/qwen-image-bench/bench_metadata.json --judged-out data/samples/own-model/mine_judged.csv -o data/samples/qwen-image-bench/responses.jsonl
	$(SCORELAKE) synth magicdata340k --rows 120 --noise 0.03 -o data/samples/magicdata340k/labels_train.jsonl
	$(SCORELAKE) synth magicdata340k --rows 80 --split test --noise 0.05 --think-chars 60 --predictions-out data/samples/magicdata340k/predictions_test.jsonl -o data/samples/magicdata340k/labels_test.jsonl
	$(SCORELAKE) synth magicbench --rows 40 --models 3 --noise 0.06 --think-chars 60 -o data/samples/magicbench
	$(SCORELAKE) synth agiqa-3k --rows 12 --subjects 4 --sessions 2 --predictions-out data/samples/agiqa-3k/metrics.csv --ratings-out data/samples/agiqa-3k/ratings.csv -o data/samples/agiqa-3k/data.csv
	$(SCORELAKE) synth fager --rows 12 --runs 2 --noise 0.1 -o data/samples/fager/Sample

bench: release   ## whole commands against the plain-Python reference, recorded in benches/runs; `cargo bench` measures parts
	benches/run.sh
