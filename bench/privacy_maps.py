"""What an uploaded data set's noise proves, beside the privacy map of OpenDP for the same noise.

OpenDP is not a dependency: where it is installed beside dprl, `python -m bench.privacy_maps` asks it anew, prints a
table and writes privacy_maps.json, which tests/privacy/test_maps.py compares with ours.

OpenDP's measurements draw discrete Gaussian or discrete Laplace noise on whole numbers, as ours do in steps of the
grid. What is asked is: noise of that scale, in steps, on a vector that one person moves by so many steps. How far that
is, is written down here from what the sums are, and not asked of our families.
"""

from __future__ import annotations

import json
import math
import sys
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

from dprl.privacy.exact import STEPS
from dprl.simulation import UploadSpec
from dprl.simulation.uploads.declaration import declaration_text
from dprl.simulation.uploads.run import noise_of
from dprl.simulation.uploads.spec import NOWHERE

HERE = Path(__file__).with_suffix(".json")
DELTA = 1e-6
BUDGETS: tuple[dict[str, Any], ...] = (
    {"privacy": "zcdp", "rho": 0.1},
    {"privacy": "zcdp", "rho": 1.0},
    {"privacy": "approximate", "epsilon": 1.0, "delta": DELTA},
    {"privacy": "pure", "epsilon": 0.1},
    {"privacy": "pure", "epsilon": 1.0},
)
HORIZONS, EPISODES, KNOWN = (2, 10, 20), (1, 3, 10), (True, False)


def spec_of(budget: dict[str, Any], H: int, episodes: int, known: bool) -> UploadSpec:
    """A release of 1,000 people, a quarter of whom are held out."""
    public: dict[str, Any] = {"states": 4, "actions": 2, "horizon": H}
    if episodes > 1:
        public |= {"columns": {"person": "who"}, "episodes": episodes}
    if known:
        public["rewards"] = 0.5
    return UploadSpec(
        data=NOWHERE, declared=declaration_text(public), n=1000, checked=250, algorithm="dp-kl-lcb", **budget
    )


def moved(family: str, H: int, m: int) -> tuple[float, float]:
    """How far one person moves these sums: the L1 and the L2 norm, in units of what one episode adds.

    At each of H steps m episodes leave a cell for another, all of them the same two at worst; of sums over people held
    out one number moves, and of how many episodes they have, one stays.
    """
    if family in ("transitions", "rewards"):
        return 2.0 * H * m, math.sqrt(2 * H) * m
    return (m - 1.0,) * 2 if family == "episodes" else (float(m),) * 2


def cases() -> list[dict[str, Any]]:
    """What our accountant says of each release: the scales by half, rho, and epsilon at a delta."""
    found = []
    for budget, H, m, known in product(BUDGETS, HORIZONS, EPISODES, KNOWN):
        noise, _ = noise_of(spec_of(budget, H, m, known))
        card = noise.guarantee
        half_of = dict(noise.times.keys())
        halves: list[dict[str, float]] = [{}, {}]
        for name, scale in noise.scales.items():
            halves[half_of[name]][name] = scale
        found.append(
            {"budget": budget, "H": H, "episodes": m, "known": known, "scales": halves}
            | {"rho": card.proved_rho, "epsilon": card.proved_epsilon, "delta": card.proved_delta}
        )
    return found


def asked(case: dict[str, Any]) -> dict[str, float]:
    """What OpenDP's maps say of the same noise: `rho` or `epsilon`; of Gaussian noise `at_delta`, its epsilon."""
    import opendp.prelude as dp  # type: ignore[import-not-found]

    dp.enable_features("contrib")
    pure, totals = case["budget"]["privacy"] == "pure", []
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    for half in case["scales"]:
        total = 0.0
        for name, scale in half.items():
            first, second = moved(name, case["H"], case["episodes"])
            if pure:
                noise = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale * STEPS)
                total += noise.map(round(first * STEPS))
            else:
                noise = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale * STEPS)
                total += noise.map(second * STEPS)
        totals.append(total)
    if pure:
        return {"epsilon": max(totals)}
    one = dp.m.make_gaussian(domain, dp.l2_distance(T=float), 1.0)  # of which a shift of sqrt(2 rho) has rho
    at = dp.c.make_zCDP_to_approxDP(one).map(math.sqrt(2 * max(totals))).epsilon(DELTA)
    return {"rho": max(totals), "at_delta": at}


def table(known: dict[str, Any]) -> str:
    """One row for each budget and m; of three H, and of rewards known or not, the first and the greatest difference."""
    rows = ["| budget | m | ours | OpenDP's map | at most apart, of 6 |", "| --- | --- | --- | --- | --- |"]
    for budget, m in product(BUDGETS, EPISODES):
        found = [c for c in known["cases"] if (c["budget"], c["episodes"]) == (budget, m)]
        name = "epsilon" if budget["privacy"] == "pure" else "rho"
        apart = max(abs(c[name] / c["opendp"][name] - 1) for c in found)
        words = ", ".join(f"{key} = {value:g}" for key, value in budget.items() if key != "privacy")
        ours, theirs = found[0][name], found[0]["opendp"][name]
        rows.append(f"| {words} | {m} | {name} = {ours:.10g} | {theirs:.10g} | {apart:.0e} |")
    return "\n".join(rows)


def main() -> int:
    """Asks OpenDP."""
    known = {
        "opendp": version("opendp"),
        "cases": [case | {"opendp": asked(case)} for case in cases()],
    }
    HERE.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    print(table(known))
    return 0


if __name__ == "__main__":
    sys.exit(main())
