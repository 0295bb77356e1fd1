# Everything a newcomer runs. Needs make and Python 3.11 or newer; each target sets up what it needs.
# Another Python: make setup PYTHON=python3.12. Arguments for pytest and the benchmarks: make test ARGS="-k queue".

.DEFAULT_GOAL := help
SHELL := /bin/sh
VENV := .venv
BENCH_VENV := .venv-bench
UV_VERSION := 0.13.9
PORT ?= 8000
ARGS ?=

# A Python that was asked for replaces an environment of another version; the one found here does not.
EXACT := $(if $(filter undefined,$(origin PYTHON)),,--exact-python)
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; done; echo $$p)

IN_VENV := $(CURDIR)/$(VENV)/bin
SET_UP := $(PYTHON) requirements/set_up.py
NPM := $(shell command -v npm)
CHROMIUM := $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
LOCK = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --extra postgres $(ARGS)

.PHONY: help setup demo memory-server test test-postgres lint format bench screenshots lock vendor clean base-venv dev-venv

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

setup: dev-venv ## Make .venv with everything for working on memoryui

base-venv:
	@$(SET_UP) requirements/base.txt $(VENV) $(EXACT)

dev-venv:
	@$(SET_UP) requirements/dev.txt $(VENV) $(EXACT)

demo: base-venv ## Sample stores, users, web and worker on http://127.0.0.1:8000 (PORT=8123 for another)
	@env -u MEMORYUI_DATABASE_URL MEMORYUI_DATA_DIR="$(CURDIR)/var/demo" MEMORYUI_BASE_URL="http://127.0.0.1:$(PORT)" \
		MEMORYUI_STORE_ROOTS="$(CURDIR)/var/demo:$$HOME" $(IN_VENV)/python manage.py load_demo --serve --port $(PORT)

memory-server: node_modules/.package-lock.json ## Install the memory server that the tests drive (needs npm)

node_modules/.package-lock.json: package-lock.json
	@npm ci --ignore-scripts --no-progress || echo "The memory server cannot be installed: its tests are left out."

test: dev-venv $(if $(NPM),memory-server) ## Run the tests, the browser's too where Chromium is installed
	@$(if $(CHROMIUM),,echo "No Chromium found: the browser tests are left out.")
	@$(IN_VENV)/python -m pytest -n 2 --maxschedchunk 8 $(if $(CHROMIUM),,-m "not browser") $(ARGS)

test-postgres: dev-venv ## Run the tests, the browser's aside, on a PostgreSQL made for this run
	@$(IN_VENV)/python tests/throwaway_postgres.py $(IN_VENV)/python -m pytest -n 2 --maxschedchunk 8 -m "not browser" $(ARGS)

lint: export MEMORYUI_DATA_DIR = $(CURDIR)/var/lint
lint: dev-venv ## Check style, types, layers, templates, settings and migrations
	$(IN_VENV)/ruff check
	$(IN_VENV)/ruff format --check
	find templates stores -name '*.html' -exec $(IN_VENV)/djade --check --target-version 5.2 {} +
	$(IN_VENV)/mypy
	$(IN_VENV)/lint-imports --no-logo
	$(IN_VENV)/python manage.py check --fail-level WARNING
	$(IN_VENV)/python manage.py makemigrations --check --dry-run

format: dev-venv ## Put code and templates into the agreed form
	$(IN_VENV)/ruff check --fix-only
	$(IN_VENV)/ruff format
	find templates stores -name '*.html' -exec $(IN_VENV)/djade --target-version 5.2 {} +

bench: ## Measure against other tools and write docs/benchmarks.md
	@$(SET_UP) requirements/bench.txt $(BENCH_VENV) $(EXACT)
	@MEMORYUI_DATA_DIR="$(CURDIR)/var/bench" $(CURDIR)/$(BENCH_VENV)/bin/python -m benchmarks $(ARGS)

screenshots: dev-venv ## Take docs/screenshots anew, with Chromium
	@$(IN_VENV)/python -m docs.take_screenshots $(ARGS)

lock: ## Lock the dependencies of pyproject.toml (ARGS=--upgrade for newer releases)
	@command -v "$(UV)" >/dev/null || { $(PYTHON) -m venv var/uv && var/uv/bin/pip install -q --only-binary :all: uv==$(UV_VERSION); }
	$(LOCK) --group dev pyproject.toml -o requirements/dev.txt
	$(LOCK) pyproject.toml -o requirements/base.txt
	$(LOCK) --group bench pyproject.toml -o requirements/bench.txt

lock: UV := $(or $(shell command -v uv),var/uv/bin/uv)

vendor: dev-venv ## Copy the pinned browser assets into static/vendor (needs npm)
	npm ci --ignore-scripts --no-progress
	$(IN_VENV)/python requirements/vendor_assets.py

clean: ## Remove all that these targets made, the demo's data too
	rm -rf $(VENV) $(BENCH_VENV) var node_modules .coverage .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
