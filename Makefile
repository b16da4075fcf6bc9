# make demo and make test need only Python (3.10 or newer) and make; they set up the rest in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-slow test-pandas3 lint format docs links bench clean

demo: $(VENV)/installed
	$(BIN)/smrmr demo

test: lint
	$(BIN)/pytest -n auto --dist worksteal -m "not slow"

test-slow: $(VENV)/installed-slow test-pandas3
	command -v chromium >/dev/null || sh -c 'apt-get update -q && apt-get install -qy chromium' \
		|| echo 'chromium is missing and could not be installed: browser tests will be skipped'
	$(BIN)/pytest -m slow

# anndata asks for pandas 2, so pandas 3 has an environment of its own
test-pandas3: $(VENV)-pandas3/installed
	$(VENV)-pandas3/bin/pytest -n auto --dist worksteal -m "not slow" tests/test_study.py tests/test_files.py \
		tests/test_any_table.py tests/test_sources.py tests/test_large.py tests/test_estimator.py \
		tests/test_cli.py

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# the site, with every example of examples/ and every code block run; warnings are errors
docs: $(VENV)/installed-docs $(VENV)/installed-test
	$(BIN)/pytest -n auto -m "slow or not slow" tests/test_docs.py
	$(BIN)/sphinx-build -W --keep-going -j auto docs docs/_build/html

# addresses outside the repository, which needs the network
links: $(VENV)/installed-docs
	$(BIN)/sphinx-build -b linkcheck -D plot_gallery=0 docs docs/_build/links

bench: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.speed.association
	$(BIN)/python -m benchmarks.speed.pairs
	$(BIN)/python -m benchmarks.speed.solver
	$(BIN)/python -m benchmarks.speed.knockoffs
	$(BIN)/python -m benchmarks.speed.fit
	$(BIN)/python -m benchmarks.speed.rows
	$(BIN)/python -m benchmarks.speed.against
	$(BIN)/python -m benchmarks.speed.startup

$(VENV)/created:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "smrmr needs Python 3.10 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/installed: $(VENV)/created pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/installed-%: $(VENV)/created pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@

$(VENV)/installed-slow: $(VENV)/created pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test,slow]'
	touch $@

$(VENV)-pandas3/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-pandas3
	$(VENV)-pandas3/bin/pip install --quiet --disable-pip-version-check --editable '.[test]'
	$(VENV)-pandas3/bin/pip install --quiet --disable-pip-version-check 'pandas>=3'
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-pandas3 docs/_build docs/api docs/gallery .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
