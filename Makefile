# Every target does its own set-up: .venv is made once, from pyproject.toml with the versions of constraints.txt.

# The interpreter that .venv is made with.
PYTHON = python3
# Passed on: make run ARGS="strategy=sequential max_turns=2", make test ARGS="-k ledger".
ARGS =
PORT = 5000

PY = .venv/bin/python
STAMP = .venv/.installed

# Nothing phones home, and no model is looked for on a hub: what is needed lies in data/raw.
export MLFLOW_DISABLE_TELEMETRY = true
export DO_NOT_TRACK = true
export HF_HUB_OFFLINE = 1

.DEFAULT_GOAL = help
.PHONY: help run repro validate ui test check fetch docs bench clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if v >= (3, 11) else \
	    "Python 3.11 or newer is needed and $(PYTHON) is %d.%d: name another, as in `make run PYTHON=python3.12`." % v[:2])'
	@echo "Installing dependencies into .venv (a few minutes, once) …"
	@$(PYTHON) -m venv .venv
	@$(PY) -c 'import tomllib; p = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	    print(*p["dependencies"], *(e for extra in p["optional-dependencies"].values() for e in extra), sep="\n")' > .venv/requirements.txt
	@$(PY) -m pip install -qq --disable-pip-version-check -c constraints.txt -r .venv/requirements.txt
	@touch $@

run: fetch ## probe the embedded model, print what it knows and leave an MLflow run (ARGS="probe=... model=...")
	@$(PY) -m src.run $(ARGS)

repro: $(STAMP) ## reproduce the grid of params.yaml: cells, unions, studies, reports/report.html (ARGS="--keep-going")
	@PATH="$(CURDIR)/.venv/bin:$$PATH" $(PY) -m dvc repro $(ARGS)

validate: fetch ## try every estimator on models whose knowledge is planted (ARGS="settings=[default]")
	@$(PY) -m src.validate $(ARGS)

ui: $(STAMP) ## look at the runs in the browser (PORT=5000)
	@echo "MLflow will answer at http://127.0.0.1:$(PORT) in a moment; Ctrl-C ends it."
	@MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false $(PY) -m mlflow ui --workers 1 --host 127.0.0.1 --port $(PORT) \
	    --backend-store-uri sqlite:///mlflow.db

fetch: $(STAMP) ## fetch the two embedded models into data/raw, if they are not there
	@$(PY) -m src.fetch

# All tests share out the cores; for a few, one process starts sooner.
test: fetch ## run the tests, all of them on every core (ARGS="-k name")
	@$(PY) -m pytest $(or $(ARGS),-n logical --maxprocesses 4 --dist worksteal)

check: $(STAMP) ## lint, format, types, floors, and whether the generated docs are up to date
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@$(PY) .venv/bin/lint-imports --no-logo
	@$(PY) -m docs.tables --check

docs: $(STAMP) ## regenerate the tables in README.md
	@$(PY) -m docs.tables

bench: fetch ## measure what the design relies on, as ratios against a bar
	@for path in benchmarks/bench_*.py; do $(PY) -m benchmarks.$$(basename $$path .py) || failed=1; done; exit $$failed

clean: ## remove .venv and the caches of the tools; data and runs stay
	rm -rf .venv .ruff_cache .mypy_cache .pytest_cache .import_linter_cache
