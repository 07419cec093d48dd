"""Where tests draw from: a seeded source, unless they are marked `real_draws`.

`secrets` and `random.SystemRandom` take all their bits from `random._urandom`. The hooks below, which tests/conftest.py
imports, put a seeded generator there for the time of each test. Its seed is the name of the test, or of a fixture that
several tests share. So noise for people, and the coin for who is held out, fall alike in every run of a test.

Other processes (also forks of a test) and browsers have the system's source. What is asserted of their draws holds with
probability at least 1 - 1e-9.

Draw for real, with what is asserted
    privacy/test_exact.py::test_draws_come_from_the_operating_system   how many bits are taken: always true
    browser/test_upload.py   a bound of 6.2 with a standard deviation of 0.007 is above 5.7; the best policy is learned
    browser/test_coin.py     tosses and bits within 7 standard deviations; all else is given the outcome
    browser/test_patient.py  bits within 7 standard deviations, intervals at 1 - 2e-10; all else is given the outcome
"""

from __future__ import annotations

import os
import random
from collections.abc import Generator
from typing import Any

import pytest

_SOURCE = random.Random()
_SYSTEM = os.urandom


def _from_system() -> None:
    random._urandom = _SYSTEM  # type: ignore[attr-defined]


os.register_at_fork(after_in_child=_from_system)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Seed the source for one test, with its fixtures."""
    if item.get_closest_marker("real_draws") is None:
        _SOURCE.seed(item.nodeid)
        random._urandom = _SOURCE.randbytes  # type: ignore[attr-defined]
    try:
        return (yield)
    finally:
        _from_system()


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, Any, Any]:
    """Seed the source for a fixture that several tests share, whichever of them comes first."""
    if fixturedef.scope == "function":
        return (yield)
    state = _SOURCE.getstate()
    _SOURCE.seed(f"{fixturedef.baseid}::{fixturedef.argname}[{getattr(request, 'param_index', 0)}]")
    try:
        return (yield)
    finally:
        _SOURCE.setstate(state)
