# Everything runs in .venv, which is made on first use and renewed when its inputs change.
# `make help` lists the targets.

PYTHON ?= python3
VENV ?= .venv
WORKERS ?= 2
# Workers of tests that wait for clusters more than they compute.
WAITING ?= 3
PYTEST_ARGS ?=
GUARANTEES := counterexamples/matrix/guarantees
# Words of the mutants to try, by default all of them, and `--begin-within SECONDS`.
MUTANTS ?=
# Seconds after which no nightly test begins any more, and two hours later all end.
NIGHT ?= 28800
# Seconds to hunt in each preset. Each draws models of its own, and others with another seed.
HUNT ?= 600
SEED ?= 1
# Options of the comparison with other checkers, such as --large.
PEERS ?=

BIN := $(VENV)/bin
BASE := $(VENV)/.installed-base
ALL := $(VENV)/.installed-all
RELEASE := $(VENV)/.installed-release
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input
# Spark starts once a session: its tests form one group, which one worker runs.
PYTEST := $(BIN)/python -m pytest
PARALLEL := -n $(WORKERS) --dist loadgroup
BESIDE := -n $(WAITING) --dist loadgroup

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
# Tests start hundreds of processes, and mutants fork: none has to compile what another has.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

.PHONY: explore
explore: $(BASE) ## find a real bug of early Kafka, then show that KIP-320 is free of it
	@status=0; $(BIN)/explore truncate_to_high_watermark || status=$$?; \
	if [ $$status -ne 12 ]; then \
		echo "make explore: expected exit status 12 (a property is violated), got $$status" >&2; \
		exit 1; \
	fi
	@$(BIN)/explore kip320
	@printf '\nTo go on:\n  . %s/bin/activate\n  highwater explore kip320 --set fence_fetch=false\n  highwater list\n' $(VENV)

.PHONY: test
test: jvm $(ALL) ## run the test suite, without the slow tests
	@$(PYTEST) $(PARALLEL) -m "not slow and not kafka and not browser" $(PYTEST_ARGS)

.PHONY: test-slow
test-slow: jvm $(ALL) ## run the slow tests, those of `make test-browser` among them
	@scripts/ensure-spin
	@scripts/ensure-browser
	@$(PYTEST) $(PARALLEL) -m "(slow or browser) and not nightly and not kafka" $(PYTEST_ARGS)

.PHONY: test-nightly
test-nightly: jvm $(ALL) ## run the tests that are too slow for every change, and list what ran
	@scripts/ensure-kafka-tools
	@scripts/ensure-browser
	@timeout --kill-after=1m $$(($(NIGHT) + 7200)) $(PYTEST) $(PARALLEL) -m nightly --go-on \
		--begin-within $(NIGHT) -rap --durations=0 --durations-min=60 $(PYTEST_ARGS)

# Clusters come first: few tests, which take longest, and would be left to one worker at the end.
.PHONY: test-kafka
test-kafka: $(ALL) ## run the tests that run Kafka itself: its classes, and clusters on loopback
	@scripts/ensure-kafka-tools
	@$(PYTEST) $(BESIDE) --no-loadscope-reorder -m "kafka and not nightly" tests/kafka $(PYTEST_ARGS)

.PHONY: test-browser
test-browser: $(ALL) ## look at the pages in Chromium, which it installs where it may
	@scripts/ensure-browser
	@$(PYTEST) $(PARALLEL) -m "browser and not nightly" tests/browser tests/test_site.py $(PYTEST_ARGS)

.PHONY: mutants
mutants: jvm $(ALL) ## break the checker in many ways, and see that the tests notice each
	@$(BIN)/python -m tests.mutants $(MUTANTS)

# Ends with 12 if a hunt has found what no entry of the catalogue explains.
.PHONY: hunt
hunt: $(BASE) ## hunt for new bugs in every preset of every protocol, HUNT seconds each; it goes on
	@mkdir -p build/hunts; $(BIN)/highwater list --json | $(BIN)/python -c 'import json, sys; \
		all = json.load(sys.stdin)["protocols"]; \
		[print(each["name"], preset) for each in all for preset in each["presets"]]' | { \
		found=0; while read -r protocol preset; do \
			own=$$(printf '%s' "$$protocol $$preset" | cksum | cut -d ' ' -f 1); \
			echo; $(BIN)/highwater hunt $$protocol --preset $$preset --quiet \
				--seed $$(($(SEED) + own % 1000000000)) \
				--workers $(WORKERS) --max-seconds $(HUNT) \
				--store build/hunts/$$protocol-$$preset.jsonl </dev/null || case $$? in \
				12) found=12;; 20) ;; *) exit 1;; esac; done; \
		exit $$found; }

.PHONY: bench
bench: jvm $(ALL) ## run the benchmarks, one at a time
	@$(PYTEST) tests/benchmarks -o python_files='bench_*.py test_*.py' -s $(PYTEST_ARGS)

.PHONY: bench-peers
bench-peers: $(ALL) ## compare the search with Spin, Stateright and, where TLC says how to start it, TLC
	@scripts/ensure-spin
	@$(BIN)/python -m tests.benchmarks.peers $(PEERS)

.PHONY: lint
lint: $(ALL) ## check style and format
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .

.PHONY: format
format: $(ALL) ## rewrite the code in the agreed format
	@$(BIN)/ruff check --fix --quiet .
	@$(BIN)/ruff format --quiet .

.PHONY: types
types: $(ALL) ## check types
	@$(BIN)/mypy --strict

.PHONY: release
release: $(RELEASE) ## build sdist, wheel and bill of materials into dist/, and check them
	@$(BIN)/python scripts/release.py

.PHONY: docs
docs: $(BASE) ## rewrite the generated pages from what is stored
	@$(BIN)/highwater cases --pages --json >/dev/null
	@$(BIN)/highwater matrix --stored --write $(GUARANTEES).md --json >/dev/null
	@$(BIN)/highwater matrix --stored --markdown >docs/guarantees.md

.PHONY: site
site: $(ALL) ## build the documentation as a static site in site/, with a page for each counterexample
	@$(BIN)/python scripts/build_site.py

.PHONY: image
image: ## build a container image, highwater, with docker, podman or buildah
	@scripts/build-image

.PHONY: docs-anew
docs-anew: $(BASE) ## search for all of it anew, which takes long
	@$(BIN)/highwater cases --write
	@rm -f $(GUARANTEES).jsonl
	@$(BIN)/highwater matrix --store $(GUARANTEES).jsonl --write $(GUARANTEES).md
	@$(BIN)/highwater matrix --stored --markdown >docs/guarantees.md
	@for protocol in $$(sed -n 's/^<!-- liveness \(.*\): begin -->$$/\1/p' docs/liveness.md); do \
		asked=$$(tr '\n' ' ' <docs/liveness.md | \
			sed -n "s|.*highwater liveness $$protocol\( [^\`]*\)--write docs/.*|\1|p"); \
		$(BIN)/highwater liveness $$protocol $$asked --quiet --write docs/liveness.md || \
			[ $$? -eq 13 ] || exit; done
	@sed -n 's/^    highwater \(growth .*\)$$/\1/p' docs/performance.md | \
		while read -r arguments; do $(BIN)/highwater $$arguments --quiet >/dev/null || exit; done
	@$(MAKE) kill-matrices

.PHONY: kill-matrices
kill-matrices: $(BASE) ## judge every mutant anew, which takes long
	@for page in counterexamples/mutants/*.md; do \
		$(BIN)/highwater $$(sed -n 's/.*`highwater \(mutate .*\)`.*/\1/p' $$page) || exit; done

.PHONY: jvm
jvm:
	@scripts/ensure-jvm

.PHONY: clean
clean: ## remove the environment, caches and what runs have left behind
	@if [ -f $(VENV)/pyvenv.cfg ]; then rm -rf $(VENV); fi
	@rm -rf build dist site *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis \
		spark-warehouse metastore_db derby.log
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# pip runs only when the metadata or the pinned versions are newer than the stamp. It compiles
# nothing: most modules are never imported. bin/pip is the last thing that venv writes: without it,
# an environment is half made.
$(BIN)/pip:
	@PYTHON="$(PYTHON)" scripts/make-venv $(VENV)

$(BASE): pyproject.toml constraints.txt | $(BIN)/pip
	@echo "installing Highwater into $(VENV)" >&2
	@$(PIP) install --no-compile -c constraints.txt -e .
	@touch $@

$(ALL): pyproject.toml constraints.txt | $(BIN)/pip
	@echo "installing Highwater and all its extras into $(VENV)" >&2
	@$(PIP) install --no-compile -c constraints.txt -e '.[all]'
	@touch $(BASE) $@

$(RELEASE): pyproject.toml constraints.txt | $(BIN)/pip
	@echo "installing what builds a release into $(VENV)" >&2
	@$(PIP) install --no-compile -c constraints.txt -e '.[release]'
	@touch $(BASE) $@
