# Two commands on a fresh machine: `make demo` and `make test`. Needs Python 3.11+, make and a package index.
PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest
# The explorer's page is written in TypeScript. What is built of it is committed: only those who change it need node and npm.
NPM := npm --prefix explorer
PACKAGES := explorer/node_modules/.package-lock.json
# What builds and checks a release has an environment of its own, so that nothing of the package's is near.
TOOLS := build/tools/bin

.PHONY: install install-browser demo test test-fast test-browser test-extras test-slow test-slow-turn test-gpu lint format explorer \
	check-explorer bench install-docs pages docs docs-serve test-site reproduce-smoke dist release-check try-lowest \
	lint-github clean

install: .venv/installed

.venv/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("gnode needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12") if sys.version_info < (3, 11) else None'
	test -d .venv || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,ray]'
	touch .venv/installed

install-browser: install ## Playwright, for the tests of the explorer's page; it drives the Chromium of the system
	$(BIN)/python -c 'import playwright' 2>/dev/null || \
	    $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[browser]'

demo: install          ## train a two-dimensional gated neural ODE on the square task and draw the square it learned
	$(BIN)/gnode demo

test: install lint     ## everything but the slow tests; those in a browser only where there is one (see test-browser)
	$(PYTEST) -m "not slow" -n 2 --dist worksteal

test-fast: install     ## style, and the tests that take less than a quarter of a second each: for while you write
	$(BIN)/ruff check .
	$(PYTEST) -m "not slow" -n 2 --dist worksteal --fast

test-browser: install-browser ## the tests of the explorer's page, which fail if there is no browser
	GNODE_TEST_BROWSER=1 $(PYTEST) tests/explorer/test_browser*.py tests/explorer/test_asset.py -n 2 --dist worksteal

test-extras: .venv/installed-extras install-docs ## what needs torch, scikit-learn or ONNX, and every page whole; it fails if they are missing
	GNODE_TEST_EXTRAS=1 $(PYTEST) -m "not slow" -n 2 --dist worksteal tests/estimators tests/export \
	    tests/docs/test_every_page.py tests/docs/test_check_site.py tests/cells/test_from_frameworks.py tests/analysis/test_outside.py

.venv/installed-extras: pyproject.toml .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[sklearn,onnx]' onnxruntime
	touch .venv/installed-extras

test-slow: install     ## tests that train for minutes, with full compiler optimisation
	JAX_DISABLE_MOST_OPTIMIZATIONS=0 XLA_FLAGS= $(PYTEST) -m slow

test-slow-turn: install ## the slow tests of one file, another one each time (what continuous integration adds)
	JAX_DISABLE_MOST_OPTIMIZATIONS=0 XLA_FLAGS= $(PYTEST) -m slow $$($(BIN)/python tests/slow_turn.py)

test-gpu:              ## what only a GPU can check; uses the Python that has jax for it
	GNODE_TEST_GPU=1 $(or $(wildcard $(BIN)/python),$(PYTHON)) -m pytest tests/gpu

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

explorer: check-explorer ## builds the page of gnode explore from explorer/src, and what the tests run of it by node
	$(NPM) run --silent build
	$(NPM) run --silent build -- --math

check-explorer: $(PACKAGES) ## the types and the own tests of the page (needs node 20 or newer, and npm)
	$(NPM) run --silent check

$(PACKAGES): explorer/package.json explorer/package-lock.json
	$(NPM) ci
	touch $@

bench: install-browser ## ratios against what a user would pick instead, each measured in one run
	$(BIN)/gnode bench --out benchmarks/results/gradient-$$($(BIN)/python -c "import jax; print(jax.default_backend())").json
	$(BIN)/python benchmarks/training_step.py
	$(BIN)/python benchmarks/sweep_throughput.py
	$(BIN)/python benchmarks/fixed_points.py
	$(BIN)/python benchmarks/common_tool.py
	$(BIN)/python benchmarks/parallel_in_time.py
	$(BIN)/python benchmarks/callbacks.py
	$(BIN)/python benchmarks/explorer_frames.py

reproduce-smoke: install ## every figure, table and claim, small (needs the data sets of `gnode data`)
	$(BIN)/gnode reproduce run all --scale smoke --out runs/reproduce-smoke

install-docs: .venv/installed-docs ## Sphinx, its theme, MathJax, and what runs notebooks

.venv/installed-docs: pyproject.toml .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch .venv/installed-docs

pages: install         ## pages made from committed results
	$(BIN)/gnode reproduce collect
	$(BIN)/python docs/make.py

docs: pages install-docs ## these pages, then the site from nothing (docs/_build/html; notebooks run unless nothing changed), then its checks
	rm -rf docs/_build/html docs/_build/doctrees docs/reference
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --nitpicky --jobs 2 --quiet \
	    -d docs/_build/doctrees -b html docs docs/_build/html
	$(BIN)/python docs/check_site.py

test-site: install-browser ## opens every page of the site that was built in Chromium, light and dark, at three widths
	$(BIN)/python docs/check_site.py --browser

docs-serve:            ## shows the site that was built, at http://localhost:8000
	$(BIN)/python -m http.server --bind localhost --directory docs/_build/html 8000

dist: build/tools/installed ## wheel and sdist in dist/, built in a clean environment and checked
	rm -rf dist
	$(TOOLS)/python release/version.py
	$(TOOLS)/python -m build --outdir dist
	$(TOOLS)/twine check --strict dist/*
	$(TOOLS)/python release/contents.py dist

release-check: dist lint-github try-lowest ## dist, tried: the wheel alone, every extra, the lowest versions of the dependencies
	$(TOOLS)/python release/try_wheel.py dist
	$(TOOLS)/python release/try_extras.py dist

try-lowest:            ## the quick tests in a fresh environment, with the lowest versions of the dependencies
	$(PYTHON) release/try_suite.py --lowest

lint-github: build/tools/installed ## CITATION.cff, the workflows and the forms of .github, by their schemas
	$(TOOLS)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(TOOLS)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(TOOLS)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(TOOLS)/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(TOOLS)/check-jsonschema --builtin-schema vendor.github-issue-forms \
	    $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))

build/tools/installed:
	$(PYTHON) -m venv build/tools
	$(TOOLS)/python -m pip install --quiet --disable-pip-version-check build twine 'check-jsonschema>=0.36'
	touch $@

clean:
	rm -rf build dist .venv .pytest_cache .ruff_cache explorer/node_modules docs/_build docs/reference
