"""Compare what the noise of an upload proves with OpenDP's privacy maps, whose answers opendp.json holds.

OpenDP draws discrete noise on whole numbers, as we do in steps of the grid. Its maps were asked for noise of that scale
on a vector that one person moves by the L2 norm of their sums. Where OpenDP is installed, ask it anew by

    PYTHONPATH=. python tests/privacy/test_maps.py
"""

from __future__ import annotations

import json
import math
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from dprl.privacy.exact import STEPS
from dprl.simulation import UploadSpec
from dprl.simulation.uploads.declaration import declaration_text
from dprl.simulation.uploads.noise import noise_of
from dprl.simulation.uploads.spec import NOWHERE
from tests.problems import first

HERE = Path(__file__).with_name("opendp.json")
DELTA = 1e-6
BUDGETS: tuple[dict[str, Any], ...] = ({"rho": 0.1}, {"rho": 1.0})
HORIZONS, EPISODES, KNOWN = (2, 10, 20), (1, 3, 10), (True, False)


def spec_of(budget: dict[str, Any], H: int, episodes: int, known: bool) -> UploadSpec:
    """A release of 1,000 people, a quarter of whom are held out."""
    public: dict[str, Any] = {"states": 4, "actions": 2, "horizon": H}
    if episodes > 1:
        public |= {"columns": {"person": "who"}, "episodes": episodes, "start": [0.25] * 4}
    if known:
        public["rewards"] = 0.5

    return UploadSpec(data=NOWHERE, declared=declaration_text(public), n=1000, checked=250, **budget)


CASES: list[dict[str, Any]] = json.loads(HERE.read_text(encoding="utf-8"))["cases"]


@pytest.mark.parametrize("case", first(CASES, lambda case: (case["budget"]["rho"], case["episodes"])))
def test_noise_proves_what_opendp_says_of_the_same_noise(case: dict[str, Any]) -> None:
    """It is the noise that is drawn now. rho is the same to 11 digits, and within the budget. Epsilon
    at a delta is at most OpenDP's, which follows from rho alone."""
    budget = case["budget"]
    noise, _ = noise_of(spec_of(budget, case["H"], case["episodes"], case["known"]))
    card, theirs = noise.guarantee, case["opendp"]
    assert noise.scales == pytest.approx({**case["scales"][0], **case["scales"][1]}, rel=1e-12)
    assert card.proved_rho == pytest.approx(theirs["rho"], rel=1e-11)
    assert theirs["rho"] <= budget["rho"] * (1 + 1e-12)
    assert card.proved_delta == DELTA
    assert 0.9 * theirs["at_delta"] < (card.proved_epsilon or 0) <= theirs["at_delta"]


def moved(family: str, H: int, m: int) -> float:
    """How far one person moves these sums, by their L2 norm, written down from what the sums are.

    At each of H steps m episodes leave a cell for another, all of them the same two at worst; of sums over people held
    out one number moves, and of how many episodes they have, one stays.
    """
    if family in ("transitions", "rewards"):
        return math.sqrt(2 * H) * m
    return m - 1.0 if family == "episodes" else float(m)


def ask(budget: dict[str, Any], H: int, m: int, known: bool) -> dict[str, Any]:
    """Return a case: the scales of both halves, and what OpenDP's map says of that noise."""
    import opendp.prelude as dp  # type: ignore[import-not-found]

    dp.enable_features("contrib")
    noise, _ = noise_of(spec_of(budget, H, m, known))
    halves: list[dict[str, float]] = [{}, {}]
    for (name, half), _times in noise.times.items():
        halves[half][name] = noise.scales[name]
    domain, metric = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T=float)
    rho = max(
        sum(
            dp.m.make_gaussian(domain, metric, scale * STEPS).map(moved(name, H, m) * STEPS)
            for name, scale in half.items()
        )
        for half in halves
    )
    one = dp.m.make_gaussian(domain, metric, 1.0)  # of which a shift of sqrt(2 rho) has rho
    at_delta = dp.c.make_zCDP_to_approxDP(one).map(math.sqrt(2 * rho)).epsilon(DELTA)
    case = {"budget": budget, "H": H, "episodes": m, "known": known, "scales": halves}
    return case | {"opendp": {"rho": rho, "at_delta": at_delta}}


if __name__ == "__main__":
    cases = [ask(*each) for each in product(BUDGETS, HORIZONS, EPISODES, KNOWN)]
    lines = ",\n".join(map(json.dumps, cases))
    HERE.write_text(f'{{"opendp": "{version("opendp")}", "cases": [\n{lines}\n]}}\n', encoding="utf-8")
