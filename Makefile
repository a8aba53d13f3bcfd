# The whole of gpukit from one place. `make help` lists what there is.

STACK ?= dev
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WORKERS ?= auto
RUNS ?= 5
SOURCES := gpukit components sandbox stacks scripts tests

.DEFAULT_GOAL := help
.PHONY: help setup hooks up preview down test test-fast test-engine test-cluster fuzz check lint format golden catalog \
        bench requirements upgrade clean

help:  ## List the commands
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

## Environment

setup: $(READY)  ## Make the virtual environment with everything gpukit needs, pinned and hashed

$(READY): requirements-dev.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "python3.11 or newer is missing: install it, or say PYTHON=/path/to/python" >&2; exit 3; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is older than 3.11: install a newer one, or say PYTHON=/path/to/python" >&2; exit 3; }
	@echo "==> virtual environment in $(VENV) (about a minute, once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-dev.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

hooks: $(READY)  ## Let git run ruff, mypy and codespell before each commit
	$(BIN)/pre-commit install

requirements: $(READY)  ## Pin again what pyproject.toml asks for; versions already pinned stay
	$(BIN)/python scripts/make_requirements.py

upgrade: $(READY)  ## Pin the newest versions that pyproject.toml allows
	$(BIN)/python scripts/make_requirements.py --upgrade

clean:  ## Remove caches and build output; the virtual environment and the sandbox stay
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +

## The main job, in the sandbox: no cloud account, no money

up: $(READY)  ## Bring a stack up: make up [STACK=dev|staging|prod]
	@$(BIN)/python -m gpukit_sandbox.deploy up $(STACK)

preview: $(READY)  ## Show what `make up` would change: make preview [STACK=dev|staging|prod]
	@$(BIN)/python -m gpukit_sandbox.deploy preview $(STACK)

down: $(READY)  ## Take a stack down again: make down [STACK=dev|staging|prod]
	@$(BIN)/python -m gpukit_sandbox.deploy down $(STACK)

## Tests

test: test-fast  ## Run all tests but those on a control plane: the fast ones, then those on a real engine
	$(BIN)/pytest -q -m "(engine or slow) and not cluster"

test-fast: $(READY)  ## Run the tests that need neither engine nor control plane, in about a minute
	$(BIN)/pytest -q -n $(WORKERS) -m "not engine and not cluster and not slow"

test-engine: $(READY)  ## Run the tests on the Pulumi engine (built on first use)
	$(BIN)/pytest -q -m engine

test-cluster: $(READY)  ## Run the tests on a Kubernetes control plane (built on first use)
	$(BIN)/pytest -q -m cluster

fuzz: $(READY)  ## Run the property tests with a hundred times the examples
	$(BIN)/pytest -q -n $(WORKERS) -m hypothesis --hypothesis-profile=fuzz

check: lint test-fast  ## Run what every change must pass

lint: $(READY)  ## Check style, types and spelling
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy gpukit components/gpukit_components
	$(BIN)/codespell

format: $(READY)  ## Put the code into its form
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(READY)  ## Measure commands as whole processes against their budgets: make bench [RUNS=5]
	$(BIN)/python scripts/bench.py --runs $(RUNS)

## Generated files

golden: $(READY)  ## Write the golden files of the tests again; read the difference before you commit it
	$(BIN)/gpukit schema > docs/stack.schema.json
	GPUKIT_GOLDEN=write $(BIN)/pytest -q -n $(WORKERS) -m "not engine and not cluster"
	git diff --stat -- tests/golden docs README.md

catalog: $(READY)  ## Build the generated tables again
	$(BIN)/python scripts/make_catalog.py
