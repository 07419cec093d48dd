# `make run` opens the dashboard, `make test` runs the tests; both first set up what they need in .venv.
# PYTHON=... says which Python to make .venv with; by default the first one that is new enough.

HOST ?= localhost
PORT ?= 8501
PYTHON ?= python3 python3.13 python3.12 python3.11
TESTS ?= tests
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)
# COVERAGE="--cov --cov-report=term" says which lines were run.
COVERAGE ?=
# FAULTS=0.1 is a tenth of what `make faults` tries.
FAULTS ?= long

# Images often switch this off; without it each of the processes that a test starts compiles the sources anew.
export PYTHONDONTWRITEBYTECODE :=

VENV := .venv
PY := $(VENV)/bin/python
# Python compiles what is imported; pip would compile everything, which takes a third of an installation.
INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check --no-compile

# The stamps say what is installed; they go when the Python that .venv was made with is gone.
$(shell $(PY) -c "" 2>/dev/null || rm -f $(VENV)/.run $(VENV)/.test $(VENV)/.docs)

.PHONY: help run docs test test-all thorough faults check lint format clean

help:
	@echo "make run    set up and open the dashboard (HOST=$(HOST) PORT=$(PORT)); Ctrl-C ends it"
	@echo "make docs   set up and build the documents into static/docs, which the dashboard then serves"
	@echo "make test   set up, with a browser, and run the tests, in JOBS=$(JOBS) processes (about five minutes)"
	@echo "make test-all the same with the thorough ones, before a release (about twenty minutes)"
	@echo "make thorough only what make test leaves out, of TESTS"
	@echo "make check  run the tests in TESTS=path (a folder, a file, file::test) in one process, set up as they are"
	@echo "make faults kill workers and fill the disk, as often as docs/how-to/deploying.md says; lead forty phones (minutes)"
	@echo "make lint   set up and check style, format, words and types"
	@echo "make format put the code into the form that lint checks"
	@echo "make clean  remove .venv and caches"

run: $(VENV)/.run
	@exec $(PY) -m dprl.serve --host "$(HOST)" --port "$(PORT)"

docs: $(VENV)/.docs
	@rm -rf static/docs build/doctrees docs/reference/api
	@$(PY) -m sphinx -W --keep-going -q -b html -d build/doctrees docs static/docs
	@grep -q 'id="dprl.RunSpec"' static/docs/reference/api/dprl.RunSpec.html || { echo "The Python API is missing." >&2; exit 1; }
	@echo "Open static/docs/index.html, or the links at the foot of the dashboard's pages."

test: MARKED := -m "not thorough"
test-all: PASSED := git diff --quiet HEAD && git rev-parse HEAD > .ci/thorough || echo "Not written down: something is not committed."
test test-all: $(VENV)/.test
	@sh tests/browser/install.sh $(PY)
	@echo "Running the tests."
	@$(PY) -m pytest $(MARKED) --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder $(COVERAGE)
	@$(PASSED)

# What `make test` leaves out, of TESTS.
thorough: $(VENV)/.test
	@sh tests/browser/install.sh $(PY)
	@$(PY) -m pytest -m thorough --numprocesses $(JOBS) --dist loadfile --no-loadscope-reorder $(TESTS)

check: $(VENV)/.test
	@$(PY) -m pytest $(TESTS)

faults: $(VENV)/.test
	@FAULTS=$(FAULTS) $(PY) -m pytest -rP tests/faults tests/faults/cluster.py tests/faults/image.py
	@sh tests/browser/install.sh $(PY)
	@FAULTS=$(FAULTS) $(PY) -m pytest tests/browser/test_led_phones.py

lint: $(VENV)/.test
	@echo "Checking style (ruff), format (ruff), words (.ci/habits.py) and types (mypy)."
	@$(PY) -m ruff check .
	@$(PY) .ci/habits.py
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

format: $(VENV)/.test
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

clean:
	rm -rf $(VENV) .venv-lowest build static docs/reference/api docs/reference/generated *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage

$(VENV)/.run: requirements.txt pyproject.toml
	@$(venv)
	@echo "Installing what the dashboard needs into $(VENV) (about a minute the first time)."
	@$(INSTALL) -e ".[dashboard]"
	@touch $@

$(VENV)/.test: requirements.txt pyproject.toml
	@$(venv)
	@echo "Installing what the dashboard and its tests need into $(VENV) (about a minute the first time)."
	@$(INSTALL) -e ".[dev]"
	@touch $@ $(VENV)/.run

$(VENV)/.docs: requirements.txt pyproject.toml
	@$(venv)
	@echo "Installing what the documents need into $(VENV)."
	@$(INSTALL) -e ".[dashboard,docs]"
	@touch $@ $(VENV)/.run

define venv
$(PY) -c "import pip" 2>/dev/null && exit; \
found=; \
for python in $(PYTHON); do \
    $$python -c "import sys; sys.exit(sys.version_info < (3, 11))" 2>/dev/null && found=$$python && break; \
done; \
if [ -z "$$found" ]; then \
    echo "dprl needs Python 3.11 or newer, and none of these is: $(PYTHON). Install one, or name it: make PYTHON=..." >&2; exit 1; \
fi; \
if ! $$found -c "import ensurepip, venv" 2>/dev/null; then \
    echo "$$found cannot make virtual environments; install its venv package (on Debian and Ubuntu: apt install python3-venv)." >&2; exit 1; \
fi; \
echo "Making a virtual environment in $(VENV) with $$($$found --version)."; \
$$found -m venv --clear $(VENV)
endef
