# Two commands do everything: `make app` and `make test`. Both set up .venv first.
PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile

.PHONY: app test test-all lint bench clean

app: .venv/app-ready  ## set up, compile the kernels once, serve and open the browser
	$(BIN)/streamlit run app.py

test: .venv/dev-ready  ## the fast suite
	$(PYTEST) -m "not slow and not browser"

test-all: test  ## also the slow tests and those that drive a browser
	$(PYTEST) -m "slow and not browser"
	$(BIN)/python -m pytest -m browser

lint: .venv/dev-ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	@rm -f .venv/audit.json
	@$(BIN)/pip-audit --local --skip-editable --progress-spinner off --timeout 10 -f json -o .venv/audit.json 2> .venv/audit.log \
	  && tail -n 1 .venv/audit.log \
	  || { test ! -s .venv/audit.json && echo "pip-audit could not ask (no network?): dependencies are not audited"; } \
	  || { cat .venv/audit.json .venv/audit.log; false; }

bench: .venv/bench-ready  ## needs no data of its own; uses MovieLens 1M where it is present
	$(BIN)/python -m benchmarks.accounting
	$(BIN)/python -m benchmarks.noise
	$(BIN)/python -m benchmarks.nmf
	.venv/bench/bin/python -m benchmarks.als
	$(BIN)/python -m benchmarks.sgd .venv/bench-surprise/bin/python
	$(BIN)/python -m benchmarks.roads .venv/bench-surprise/bin/python

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/app-ready: requirements.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet -r requirements.txt
	$(BIN)/python -m dpmf_core warm
	touch $@

.venv/dev-ready: requirements.txt pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet -e ".[dev]"
	touch $@

.venv/bench-ready: benchmarks/requirements.txt .venv/dev-ready
	$(PYTHON) -m venv .venv/bench
	.venv/bench/bin/python -m pip install --quiet -r requirements.txt -r benchmarks/requirements.txt
	$(PYTHON) -m venv .venv/bench-surprise
	.venv/bench-surprise/bin/python -m pip install --quiet "numpy<2" "scikit-surprise>=1.1.4,<2"
	touch $@

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
