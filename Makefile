# Everything a person or CI asks of the repository. `make help` lists it.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# One more than there are cores: many tests wait for processes and servers.
JOBS   ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
PORT   ?= 8080
SEEDS  ?= 1000
START  ?= 0
STORE  ?= all
KILLS  ?= 20
TESTS  ?=
SCENARIO ?= all

# Tests start many processes; without bytecode each of them would compile everything again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run test lint format check bench bench-peers prove simulate chaos docs schema examples lock house walk clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(READY) ## make .venv from the lock (nothing needed but Python 3.11+ and pip)

# The lock is installed with hashes; the project itself is linked in, so edits are live.
$(READY): requirements-dev.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { \
		echo "There is no $(PYTHON). Install Python 3.11 or newer, or name one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Stretto needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Try: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) can not make virtual environments. On Debian: apt-get install python3-venv" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the locked dependencies into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $(READY)

run: setup ## serve the API on PORT=8080 with the sample workflow, on a database in .stretto/
	@mkdir -p .stretto && $(BIN)/stretto serve --port $(PORT) --db sqlite:///.stretto/stretto.db --load examples/etl.yaml

comma := ,
empty :=
space := $(empty) $(empty)
patterns = $(subst $(space),$(comma),$(foreach part,$(1),src/stretto/$(part)))
# Every line and branch of what is pure; nine tenths of the asynchronous rest. The store of a server that is not
# installed here is left out; CI has all.
PURE   := $(call patterns,model/* sel/* params/* definition/* triggers/* engine/* strategies/* ports/* config/*)
SHELLS := $(call patterns,actions/* api/* client/* cli/* server/* store/* node/* runtimes/* flow/* app.py)

# Measuring coverage takes a third of the time again; CI does it.
test: setup ## run all tests but the long proofs; COVERAGE=1 with the coverage gate, TESTS=tests/api for a part
ifeq ($(or $(COVERAGE),$(CI)),)
	@$(BIN)/python -m pytest -n $(JOBS) -m "not prove" $(TESTS)
else
	@$(BIN)/python -m coverage erase
	@$(BIN)/python -m scripts.ci_tests -n $(JOBS) -m "not prove"
	@$(BIN)/python -m coverage combine --quiet
	@$(BIN)/python -m coverage report --include='$(PURE)' --fail-under=100
	@$(BIN)/python -m coverage report --include='$(SHELLS)' --omit="src/stretto/cli/dev.py,$$($(BIN)/python -m tests.ports.absent)" --fail-under=90
endif

lint: setup ## format check, ruff, strict types, import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: setup ## format the code and fix what ruff can fix
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

check: lint test ## what must be green before each commit

bench: setup ## measure, and show it in docs/; SECTION=speed (or several names) for a part, which is only printed
	@$(BIN)/python -m benchmarks $(SECTION)

bench-peers: setup ## measure other systems in turn with ours, in environments of their own under .bench/: PEER=dbos for one
	@$(BIN)/python -m benchmarks.peers $(PEER)

prove: setup ## the long proofs: wide property tests, fuzzing, bounds in seconds
	@$(BIN)/python -m pytest -m "prove or timed" --timeout=0

simulate: setup ## simulate nodes, users and trouble: SEEDS=n worlds from seed START=k on
	@$(BIN)/python -m simulation --seeds $(SEEDS) --start $(START) --jobs 2

chaos: setup ## kill, freeze and cut off real nodes on real databases: STORE=sqlite|postgresql|mariadb KILLS=n SCENARIO=...
	@$(BIN)/python -m chaos --store $(STORE) --scenario $(SCENARIO) --kills $(KILLS) $(if $(STORM_SECONDS),--seconds $(STORM_SECONDS))

house: setup ## count modules, lines, double names and modules with one importer
	@$(BIN)/python -m scripts.house

walk: setup ## follow a start over HTTP and a read of its run through the code
	@$(BIN)/python -m scripts.walk

# Not --quiet: that hides the warnings from --strict too, which then never fails.
docs: setup ## build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

schema: setup ## write the generated files again: statuses, command line, tables of the grammar
	@$(BIN)/python -m scripts.generate

examples: setup ## run the examples of the documentation and write their outputs again
	@$(BIN)/python -m scripts.doc_examples

lock: setup ## resolve the dependencies again (needs uv)
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --quiet -o requirements.txt
	uv pip compile pyproject.toml --group dev --group docs --extra arrow --extra mariadb --extra postgresql --extra repl --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --quiet -c requirements.txt -o requirements-dev.txt

clean: ## remove everything that was built
	rm -rf $(VENV) .venv-newest site dist build .coverage .coverage.* .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
