# Every target makes the environment it needs from the committed lock; nothing is installed by hand.
# `make help` lists them; `make up ARGS="--port dagster=3000"` hands options on.

SHELL := /bin/sh
BIN := .venv/bin
STAMP := .venv/.synced
# Two workers, as the bound of `make test` has two cores; each starts services of its own, and takes
# whole files in the order of conftest.py, which puts the longest first.
PYTEST := $(BIN)/pytest -q -n 2 --dist loadfile --no-loadscope-reorder
# What the tests marked `full` need beside the lock, by Debian's names.
DEBIAN_PACKAGES := redis-server postgresql chromium

.DEFAULT_GOAL := help
.PHONY: help demo up test test-full check openapi-check format bench-aws-calls bench-chaos bench-demo bench-fairness bench-fence bench-intake bench-limiter bench-plan bench-polling bench-review bench-scale bench-waves bench-webhooks debian-packages

help: ## List the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1|\2/' \
		| while IFS='|' read -r name text; do printf '%-14s %s\n' "$$name" "$$text"; done

$(STAMP): uv.lock pyproject.toml .ci/bootstrap
	@.ci/bootstrap

demo: $(STAMP) ## Run the main job on this machine; exit 0 only if all of it worked.
	@$(BIN)/fireflyassets demo $(ARGS)

up: $(STAMP) ## Start the local stack and keep it; Ctrl-C stops it. PG=1: on Postgres.
	@$(if $(PG),$(MAKE) --no-print-directory debian-packages DEBIAN_PACKAGES=postgresql)
	@$(BIN)/fireflyassets up $(if $(PG),--postgres) $(ARGS)

test: $(STAMP) ## Run all tests that need nothing but the lock, the fast ones first.
	$(PYTEST) -m "not stack and not full"
	$(PYTEST) -m "stack and not full"

test-full: $(STAMP) debian-packages ## Run the tests of `make test`, and those that need Debian packages.
	$(PYTEST) -m "not stack and not full"
	$(PYTEST) -m "stack or full"

check: $(STAMP) ## Lint, format, types, import contracts, spelling, lock, and the fast tests.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports --no-logo --no-cache
	git ls-files -z --cached --others --exclude-standard | xargs -0 $(BIN)/codespell
	$$(command -v uv || echo .local/uv/bin/uv) lock --check --offline --quiet
	$(PYTEST) -m "not stack and not full"

format: $(STAMP) ## Format the code and mend what can be mended by itself.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

openapi-check: $(STAMP) ## Compare our schemas with Adobe's OpenAPI files in SPEC=<folder>.
	@$(BIN)/python -m fireflyassets.twin.openapi_check "$(SPEC)"

bench-limiter: $(STAMP) debian-packages ## Measure the limiter and its rivals; figures in out/bench/limiter.json.
	@$(BIN)/python benchmarks/limiter.py $(ARGS)

bench-demo: $(STAMP) ## Run the demo afresh, write out/bench/demo.json, fail where a bound is missed.
	@$(BIN)/python benchmarks/demo.py

bench-fairness: $(STAMP) ## Put 5,000 jobs of one tenant beside nine with 20 each; write out/bench/fairness.json.
	@$(BIN)/python benchmarks/fairness.py

bench-fence: $(STAMP) ## Kill workers 200 times, compare the vendor's list with the tables, plant two faults.
	@$(BIN)/python benchmarks/fence.py
	@$(BIN)/python benchmarks/fence.py --mutant lease
	@$(BIN)/python benchmarks/fence.py --mutant resubmit

bench-chaos: $(STAMP) ## Let everything go wrong for 300 jobs, write out/bench/chaos.json, fail where a bound is missed; plant four faults.
	@$(BIN)/python benchmarks/chaos.py $(ARGS)
	@$(BIN)/python benchmarks/chaos.py --mutant class
	@$(BIN)/python benchmarks/chaos.py --mutant snapshot
	@$(BIN)/python benchmarks/chaos.py --mutant threshold
	@$(BIN)/python benchmarks/chaos.py --mutant replay

bench-intake: $(STAMP) ## Measure the API's briefs, single jobs and racing claims; write out/bench/intake.json, fail where a bound is missed.
	@$(BIN)/python benchmarks/intake.py

bench-webhooks: $(STAMP) ## Measure webhooks from real transitions to receivers, through a kill; write out/bench/webhooks.json, fail where a bound is missed.
	@$(BIN)/python benchmarks/webhooks.py

bench-plan: $(STAMP) ## Plan 1,000 jobs and make them, plan 10,000 rows; write out/bench/plan.json, fail where a bound is missed.
	@$(BIN)/python benchmarks/plan.py $(ARGS)

bench-polling: $(STAMP) ## Measure polls, lag and memory with 1,000 jobs in flight; write out/bench/polling.json.
	@$(BIN)/python benchmarks/polling.py

bench-review: $(STAMP) debian-packages ## Show 1,000 renditions to a reviewer, decide on 500; write out/bench/review.json, fail where a bound is missed.
	@$(BIN)/python benchmarks/review.py

bench-aws-calls: $(STAMP) ## Count what a job of three aspects asks of AWS; write out/bench/aws-calls.json.
	@$(BIN)/python benchmarks/aws_calls.py $(ARGS)

bench-scale: $(STAMP) debian-packages ## Run a campaign of 10,000 jobs on Postgres (ARGS="--jobs 20000"); write out/bench/scale.json.
	@$(BIN)/python benchmarks/scale.py $(ARGS)

bench-waves: $(STAMP) debian-packages ## Measure a wave of 500 jobs beside one run per job on Postgres; write out/bench/waves.json.
	@PYTHONPATH=. $(BIN)/python benchmarks/waves.py $(ARGS)

debian-packages:
	@missing=$$(for name in $(DEBIAN_PACKAGES); do \
			dpkg-query -W -f='$${db:Status-Status}' "$$name" 2>/dev/null | grep -qx installed || echo "$$name"; \
		done | tr '\n' ' '); \
	[ -z "$$missing" ] && exit 0; \
	command -v apt-get >/dev/null 2>&1 || { echo "The full tests need $$missing: install them, this is not a Debian machine." >&2; exit 1; }; \
	if [ "$$(id -u)" = 0 ]; then root=; else root="sudo"; fi; \
	$$root apt-get update -qq </dev/null && \
	$$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing </dev/null
