from __future__ import annotations

import pytest

from dprl.simulation.loops import replan


@pytest.fixture
def few_details(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that stop twice for the details of a trace, not 40 times: for tests that look at the rest of many runs."""
    monkeypatch.setattr(replan, "DETAIL_BYTES", 0)
