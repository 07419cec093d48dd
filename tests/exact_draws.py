"""Where tests draw from: a seeded source, unless they are marked `real_draws`.

`secrets` and `random.SystemRandom` take all their bits from `random._urandom`. The hooks below, which tests/conftest.py
imports, replace it during each test. The seed is the name of the test, or of a fixture that several tests share.

Other processes (also forks of a test) and browsers draw from the system. What tests assert of these draws holds with
probability at least 1 - 1e-9: see test_exact.py, and test_upload.py, test_coin.py and test_patient.py in browser/.
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
