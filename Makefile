# Two commands on a fresh machine: `make demo` and `make test`. Needs Python 3.11+, make and a package index.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: install demo test test-slow lint format bench docs reproduce-smoke clean

install: .venv/installed

.venv/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("gnode needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12") if sys.version_info < (3, 11) else None'
	test -d .venv || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[test,ray]'
	touch .venv/installed

demo: install          ## train a two-dimensional gated neural ODE on the square task and draw the square it learned
	$(BIN)/gnode demo

test: install lint     ## everything but the slow tests
	$(BIN)/python -m pytest -m "not slow" -n 3 --dist worksteal

test-slow: install     ## tests that train for minutes
	$(BIN)/python -m pytest -m slow

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

format: install
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: install         ## ratios against what a user would pick instead, each measured in one run
	$(BIN)/gnode bench --out benchmarks/results/gradient-$$($(BIN)/python -c "import jax; print(jax.default_backend())").json
	$(BIN)/python benchmarks/training_step.py
	$(BIN)/python benchmarks/sweep_throughput.py
	$(BIN)/python benchmarks/fixed_points.py

reproduce-smoke: install ## all 24 figures, tables and claims of the paper, small (needs the data sets of `gnode data`)
	failed=; for name in $$($(BIN)/python -c 'from gnode.experiments.registry import NAMES; print(*NAMES)'); do \
	    $(BIN)/gnode reproduce $$name --scale smoke --out runs/reproduce-smoke || failed="$$failed $$name"; done; \
	    test -z "$$failed" || { echo "not made:$$failed"; exit 1; }

docs: install          ## pages made from committed results
	$(BIN)/python docs/make_speed.py

clean:
	rm -rf .venv .pytest_cache .ruff_cache
