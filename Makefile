# Two commands do everything: `make app` and `make test`. Both set up .venv first.
# While writing: `make check`.
PYTHON ?= python3
BIN := .venv/bin
LOCK := $(BIN)/uv pip compile --upgrade --universal --python-version 3.11 --generate-hashes --no-header --quiet
# uv installs in seconds what takes pip a minute; pip is the fall-back, e.g. for an index that only its own settings name
INSTALL = { $(BIN)/python -m pip install --quiet --require-hashes -r requirements-uv.lock && \
    $(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r $<; } || \
  $(BIN)/python -m pip install --quiet --require-hashes -r $<
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal
# tests start many processes, so byte code is cached even if the machine's default is not to
export PYTHONDONTWRITEBYTECODE =

.PHONY: app check test test-all lint lock bench docs clean

app: .venv/app-ready  ## set up, serve and open the browser
	@exec $(BIN)/python app.py

check: .venv/dev-ready  ## style, types, laws, and the tests of what changed since SINCE or main
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python .ci/options.py --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not slow and not browser" \
	  $$($(BIN)/python .ci/changed.py $(SINCE))

test: .venv/dev-ready  ## the fast suite
	$(PYTEST) -m "not slow and not browser"

test-all: .venv/dev-ready  ## also the slow tests and those that drive a browser
	$(PYTEST) -m "not browser"
	$(BIN)/python -m pytest -m browser

lint: .venv/dev-ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/python .ci/options.py --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m benchmarks.tables --check
	$(BIN)/python .ci/audit.py requirements-dev.lock

lock: .venv/dev-ready  ## renew the locked versions within the ranges, install them and run the fast tests
	$(LOCK) requirements.txt -o requirements.lock
	$(LOCK) pyproject.toml --extra dev -c requirements.lock -o requirements-dev.lock
	echo uv | $(LOCK) - -c requirements-dev.lock -o requirements-uv.lock
	$(MAKE) test

bench: .venv/bench-ready  ## simulated data, or MovieLens 1M if it is installed
	.venv/bench/bin/python -m benchmarks.als
	$(BIN)/python -m benchmarks.peers .venv/bench/bin/python .venv/bench-surprise/bin/python
	$(BIN)/python -m benchmarks.tables

docs: .venv/dev-ready  ## the documentation as a site, in build/site
	$(BIN)/python docs/build_site.py

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/app-ready: requirements.lock requirements-uv.lock | .venv/bin/python
	$(INSTALL)
	touch $@

.venv/dev-ready: requirements-dev.lock requirements-uv.lock | .venv/bin/python
	$(INSTALL)
	touch $@

.venv/bench-ready: benchmarks/requirements.txt .venv/dev-ready
	$(PYTHON) -m venv .venv/bench
	.venv/bench/bin/python -m pip install --quiet -r requirements.txt -r benchmarks/requirements.txt
	$(PYTHON) -m venv .venv/bench-surprise
	.venv/bench-surprise/bin/python -m pip install --quiet "numpy<2" "scikit-surprise>=1.1.4,<2"
	touch $@

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
