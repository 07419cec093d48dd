#!/bin/sh
# Run the tests of uploads and the contract tests with the lowest versions that requirements.txt and the extra `dashboard`
# allow: sh .ci/lowest.sh PYTHON. They get a virtual environment and compiled kernels of their own.
set -e
venv=.venv-lowest
"$1" -m venv --clear "$venv"
{ cat requirements.txt; sed -n '/^dashboard = /,/^]/p' pyproject.toml; } |
    sed -n 's/^[ "]*\([a-z]*\)>=\([0-9.]*\),.*/\1==\2/p' > "$venv/lowest.txt"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --constraint "$venv/lowest.txt" -e ".[dev]"
DPRL_HOME="$PWD/$venv/home" "$venv/bin/python" -m pytest --quiet -m "not thorough" tests/contract \
    tests/simulation/test_reading.py tests/simulation/test_prepare.py tests/simulation/test_people.py \
    tests/simulation/test_uploads.py tests/simulation/test_budget.py tests/simulation/test_check.py
