"""What the noise of an upload proves, beside what OpenDP's privacy maps said of it: bench/privacy_maps.json."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bench.privacy_maps import BUDGETS, DELTA, EPISODES, HERE, HORIZONS, KNOWN, spec_of
from dprl.simulation.uploads.run import noise_of
from tests.problems import first

CASES: list[dict[str, Any]] = json.loads(HERE.read_text(encoding="utf-8"))["cases"]


def test_every_release_of_the_grid_is_there() -> None:
    assert len(CASES) == len(BUDGETS) * len(HORIZONS) * len(EPISODES) * len(KNOWN)


@pytest.mark.parametrize("case", first(CASES, lambda case: (case["budget"]["privacy"], case["episodes"])))
def test_noise_proves_what_opendp_says_of_the_same_noise(case: dict[str, Any]) -> None:
    """It is the noise that is drawn now. rho and pure epsilon are the same to 11 digits, and within the budget. Epsilon
    at a delta is at most OpenDP's, which follows from rho alone."""
    budget = case["budget"]
    noise, _ = noise_of(spec_of(budget, case["H"], case["episodes"], case["known"]))
    card, theirs = noise.guarantee, case["opendp"]
    assert noise.scales == pytest.approx({**case["scales"][0], **case["scales"][1]}, rel=1e-12)
    if "rho" in theirs:
        assert card.proved_rho == pytest.approx(theirs["rho"], rel=1e-11)
        assert theirs["rho"] <= budget.get("rho", 1.0) * (1 + 1e-12)
        assert card.proved_delta == DELTA
        assert card.proved_epsilon is not None
        assert 0.9 * theirs["at_delta"] < card.proved_epsilon <= theirs["at_delta"]
    else:
        assert card.proved_epsilon == pytest.approx(theirs["epsilon"], rel=1e-11)
        assert theirs["epsilon"] <= budget["epsilon"] * (1 + 1e-12)
