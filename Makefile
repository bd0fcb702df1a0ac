# Everything runs from .venv, which is built from the hashed locks: nothing else to install or edit.

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
# Say PYTHON=/path/to/python3.12 to choose another; it must be 3.11 or newer.
PYTHON ?= $(shell for candidate in python3.11 python3 python3.12 python3.13 python3.14; do \
	"$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { command -v "$$candidate"; break; }; done)
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
UV := $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --no-annotate --quiet

.DEFAULT_GOAL := help
.PHONY: demo test lint bench conformance lock clean help
.DELETE_ON_ERROR:

demo: $(VENV)/runtime.stamp  ## set up, run two nights on made-up exports, show what a team would read
	@$(BIN)/overrun demo

test: lint  ## set up, lint, run every test (ARGS="-k publish" for some)
	@$(BIN)/python -m pytest -n 2 --dist worksteal $(ARGS)

lint: $(VENV)/dev.stamp  ## ruff, ruff format, mypy --strict, import-linter
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo

conformance: $(VENV)/dev.stamp  ## run FOCUS's own validator and use-case queries on our charges (needs Python 3.12 too)
	@CONFORMANCE=1 $(BIN)/python -m pytest -p no:randomly -rsP --no-header tests/conformance $(ARGS)

bench: $(VENV)/dev.stamp  ## measure load, build, publish (ARGS=... for one of them)
	@$(BIN)/python -m benchmarks $(ARGS)

lock: $(VENV)/dev.stamp  ## write both locks anew from pyproject.toml (UPGRADE=--upgrade for newer releases)
	@$(PIP) install 'uv==0.13.9'
	@$(UV) $(UPGRADE) --group build --output-file requirements.lock
	@$(UV) $(UPGRADE) --group dev --constraints requirements.lock --output-file requirements-dev.lock

clean:  ## remove .venv, caches, demo and build products; never your own data
	rm -rf $(VENV) demo dist build htmlcov .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache \
		.hypothesis .import_linter_cache tests/actual
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## */  make \1\t/' | expand -t 16

$(BIN)/python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "error: no Python 3.11 or newer on the PATH" >&2; \
		echo "hint: install python3.11, or say make PYTHON=/path/to/python" >&2; exit 2; fi
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "error: $(PYTHON) is not Python 3.11 or newer" >&2; \
		echo "hint: say make PYTHON=/path/to/python" >&2; exit 2; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "error: $(PYTHON) cannot make a virtual environment" >&2; \
		echo "hint: apt-get install python3-venv" >&2; exit 2; }
	@echo "making $(VENV) with $(PYTHON)" >&2
	@"$(PYTHON)" -m venv $(VENV)

# A stamp is newer than its lock when the lock's packages are installed. The dev lock holds all of the runtime lock.
$(VENV)/runtime.stamp: requirements.lock pyproject.toml | $(BIN)/python
	@echo "installing requirements.lock" >&2
	@$(PIP) install --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/dev.stamp: requirements-dev.lock requirements.lock pyproject.toml | $(BIN)/python
	@echo "installing requirements-dev.lock" >&2
	@$(PIP) install --require-hashes -r requirements-dev.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/runtime.stamp
