"""A page that would be too large says what it leaves out."""

from __future__ import annotations

import pytest

from dprl.figures.looks import CurveStyle
from dprl.player import PlayedCurve, Shown, page, player_page, sizes_of
from dprl.simulation import RunSpec
from dprl.wasm.replay import replayed

SPEC = RunSpec(environment_params={"S": 3, "H": 3}, privacy="none", episodes=10**6, seeds=1)


def test_a_page_that_would_be_too_large_has_its_own_numbers_of_users_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = {size: replayed(SPEC.replace(episodes=size)) for size in sizes_of(SPEC)}
    assert len(found) == 3
    curve = PlayedCurve(SPEC, "No privacy", "No privacy", CurveStyle("none"), found)
    whole = player_page("Runs", "RiverSwim", [curve], Shown(), footer="")
    assert page.ALONE not in whole
    monkeypatch.setattr(page, "MOST_BYTES", len(whole) - 1)
    small = player_page("Runs", "RiverSwim", [curve], Shown(), footer="")
    assert f"RiverSwim · {page.ALONE}" in small
    assert len(small) < len(whole)
