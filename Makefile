# make demo and make test need only Python (3.11 or newer) and make; they set up the rest in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FAST := -n auto --dist worksteal -m "not slow"
INSTALL := -m pip install --quiet --disable-pip-version-check

# without stored bytecode, every worker and every process of a test compiles all files anew
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-slow test-oldest test-newest test-r lint format figures docs links bench bench-commits coverage dist clean

demo: $(VENV)/installed
	$(BIN)/smrmr demo

test: lint
	$(BIN)/pytest $(FAST)

test-slow: $(VENV)/installed-slow test-newest
	command -v chromium >/dev/null || sh -c 'apt-get update -q && apt-get install -qy chromium' \
		|| echo 'chromium is missing and could not be installed: browser tests will be skipped'
	$(BIN)/pytest -n auto --dist worksteal -m slow

# The floors of pyproject.toml, on Python 3.11. Old packages warn about one another, which is not
# ours to mend, and round the last digit of one table of the docs otherwise than newer ones do.
test-oldest: $(VENV)-oldest/installed
	$(VENV)-oldest/bin/pytest $(FAST) -W ignore::DeprecationWarning -W ignore::FutureWarning \
		--deselect tests/test_docs.py::test_tables_are_those_of_the_stored_rows

# The newest of everything.
test-newest: $(VENV)-newest/installed
	$(VENV)-newest/bin/pytest $(FAST)

# the share of lines of src that the fast tests run; less than pyproject.toml asks for is an error
coverage: $(VENV)/installed-coverage
	$(BIN)/pytest $(FAST) --cov --cov-report=term-missing:skip-covered --cov-report=json
	$(BIN)/python tools/coverage_badge.py coverage.json

# the R package in r/, against the Python one of this tree
test-r: $(VENV)/installed
	RETICULATE_PYTHON=$(abspath $(BIN)/python) tools/check_r.sh

lint: $(VENV)/installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# tables and figures of the stored rows, for the site
figures: $(VENV)/installed-docs
	$(BIN)/python -m benchmarks report --to docs/_static

# the site, with every example of examples/ and every code block run; warnings are errors
docs: $(VENV)/installed-docs $(VENV)/installed-test figures
	$(BIN)/pytest -n auto -m "slow or not slow" tests/test_docs.py
	$(BIN)/sphinx-build -W --keep-going -j auto docs docs/_build/html
	$(BIN)/python tools/check_site.py docs/_build/html

# addresses outside the repository, which needs the network
links: figures
	$(BIN)/sphinx-build -b linkcheck -D plot_gallery=0 docs docs/_build/links

bench: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.speed.association
	$(BIN)/python -m benchmarks.speed.pairs
	$(BIN)/python -m benchmarks.speed.solver
	$(BIN)/python -m benchmarks.speed.knockoffs
	$(BIN)/python -m benchmarks.speed.fit
	$(BIN)/python -m benchmarks.speed.rows
	$(BIN)/python -m benchmarks.speed.limits
	$(BIN)/python -m benchmarks.speed.against
	$(BIN)/python -m benchmarks.speed.startup

# a line of speed for HEAD, and the table of the docs that shows the newest lines
bench-commits: $(VENV)/installed
	$(BIN)/python -m benchmarks.speed.commits
	$(BIN)/python -m docs.fill

# built, checked and tried out in environments of their own
dist: $(VENV)/installed-dist
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tools/check_dist.py dist

$(VENV)/created:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "smrmr needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/installed: $(VENV)/created pyproject.toml
	$(BIN)/python $(INSTALL) --editable .
	touch $@

$(VENV)/installed-%: $(VENV)/created pyproject.toml
	$(BIN)/python $(INSTALL) --editable '.[$*]'
	touch $@

$(VENV)/installed-slow: $(VENV)/created pyproject.toml
	$(BIN)/python $(INSTALL) --editable '.[test,slow]'
	touch $@

$(VENV)-oldest/installed: pyproject.toml constraints/oldest.txt
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/python $(INSTALL) --constraint constraints/oldest.txt --editable '.[test]'
	touch $@

# a package that still asks for pandas 2, as anndata does on Python 3.11, is overruled
$(VENV)-newest/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-newest
	$(VENV)-newest/bin/python $(INSTALL) --upgrade --upgrade-strategy eager --editable '.[test]'
	$(VENV)-newest/bin/python $(INSTALL) 'pandas>=3'
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-newest dist docs/_build docs/api docs/gallery \
		docs/_static/figures docs/_static/summary.md docs/_static/yardstick.md \
		.mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage coverage.json
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +
