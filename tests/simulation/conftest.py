from __future__ import annotations

from pathlib import Path

import pytest

from dprl.privacy.privatizers.none import NOTHING_PROMISED
from dprl.simulation.loops import eliminate, slices


@pytest.fixture(autouse=True)
def own_home(home: Path) -> None:
    """Nothing of an upload outlives its test."""


@pytest.fixture
def few_details(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that stop twice for the details of a trace, not 40 times: for tests that look at the rest of many runs."""
    monkeypatch.setattr(slices, "DETAIL_BYTES", 0)


@pytest.fixture
def nothing_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Traces without what their noise proves, which for bits takes longer than to play: for tests of the rest."""
    for module in (slices, eliminate):
        monkeypatch.setattr(module, "guarantee_of", lambda spec, noise: NOTHING_PROMISED)
