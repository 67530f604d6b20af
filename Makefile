# signoff: `make demo` needs Python >= 3.11 and nothing else. Each set-up step leaves a stamp, so
# that a second call does only what has changed.

PYTHON ?= python3
PORT ?= $(or $(SIGNOFF_PORT),8000)
PYTEST_ARGS ?=
DEMO_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
PAGES := server/signoff_server/pages
ORACLES := tests/oracles

# First on the PATH: npm's scripts must find the Node of this environment, not another one.
export PATH := $(CURDIR)/$(BIN):$(PATH)

PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
NPM_CI := npm ci --no-audit --no-fund --loglevel=error

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo pages chromium test check style types layers web-types web-tests traceability bench lock dist clean

help:
	@echo "make demo    build what is missing and serve the demo on http://127.0.0.1:$(PORT)"
	@echo "             (PORT=8001 for another port, DEMO_ARGS for more options of signoff demo)"
	@echo "make test    set up what the tests need, and run them all"
	@echo "make check   format, lint, types, layers, tests, and requirements without a test"
	@echo "make bench   measure the budgets of docs/benchmarks.md"
	@echo "make pages   build the web pages only"
	@echo "make lock    resolve requirements*.txt anew from pyproject.toml"
	@echo "make dist    build the wheel and the sdist, pages included"
	@echo "make clean   remove what these targets made"

# --- the demo ---------------------------------------------------------------------------------

demo: pages
	$(BIN)/signoff demo --port $(PORT) $(DEMO_ARGS)

pages: $(PAGES)/vercel/index.html $(PAGES)/copilotkit/index.html

# Sources of a page: its own and the shared ones, without what npm and Vite leave.
sources_of = $(shell find web-demo/$(1) web-demo/shared \
  \( -name node_modules -o -name dist -o -name '*.tsbuildinfo' \) -prune -o -type f -print 2>/dev/null)

$(PAGES)/vercel/index.html: $(call sources_of,vercel)
$(PAGES)/copilotkit/index.html: $(call sources_of,copilotkit)
$(PAGES)/%/index.html: web-demo/%/node_modules/.package-lock.json
	cd web-demo/$* && npm run --silent build -- --logLevel warn
	@touch $@

# npm writes this hidden file last.
%/node_modules/.package-lock.json: %/package-lock.json | $(STAMPS)/demo
	cd $* && $(NPM_CI)
	@touch $@

# --- set-up -----------------------------------------------------------------------------------

$(BIN)/python:
	@scripts/make-venv.sh $(VENV) $(PYTHON)

$(STAMPS)/demo: requirements.txt pyproject.toml | $(BIN)/python
	$(PIP) install --require-hashes -r requirements.txt
	$(PIP) install --no-deps --no-build-isolation -e .
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/dev: requirements-dev.txt $(STAMPS)/demo
	$(PIP) install --require-hashes -r requirements-dev.txt
	@touch $@

chromium:
	@scripts/need-chromium.sh

# --- tests and checks -------------------------------------------------------------------------

test: chromium $(STAMPS)/dev $(ORACLES)/node_modules/.package-lock.json pages web-tests
	$(BIN)/pytest -n 2 --dist loadfile --cov $(PYTEST_ARGS)

check: style types layers web-types traceability test

style: $(STAMPS)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMPS)/dev
	$(BIN)/mypy
	$(BIN)/pyright --warnings

layers: $(STAMPS)/dev
	$(BIN)/lint-imports

web-types: web-demo/vercel/node_modules/.package-lock.json web-demo/copilotkit/node_modules/.package-lock.json
	cd web-demo/vercel && npm run --silent typecheck
	cd web-demo/copilotkit && npm run --silent typecheck

web-tests: web-demo/vercel/node_modules/.package-lock.json web-demo/copilotkit/node_modules/.package-lock.json
	cd web-demo/vercel && npm run --silent --if-present test
	cd web-demo/copilotkit && npm run --silent --if-present test

traceability: $(STAMPS)/dev
	$(BIN)/pytest -qq --traceability

bench: $(STAMPS)/dev
	$(BIN)/python -m bench

# --- release ----------------------------------------------------------------------------------

# No address of an index gets into these files; hashes of every platform's files do.
COMPILE := $(BIN)/uv pip compile pyproject.toml --quiet --universal --python-version 3.11 --no-strip-extras \
  --generate-hashes --no-emit-index-url --custom-compile-command "make lock"

lock: | $(STAMPS)/dev
	$(COMPILE) --upgrade --all-extras --group dev --output-file requirements-dev.txt
	$(COMPILE) --upgrade --extra server --group demo --constraint requirements-dev.txt \
	  --no-annotate --output-file requirements.txt

dist: $(STAMPS)/dev pages
	$(BIN)/python -m build --no-isolation

clean:
	rm -rf $(VENV) $(PAGES) dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache \
	  .hypothesis .coverage .coverage.* web-demo/*/node_modules $(ORACLES)/node_modules
