"""Measure how the privacy cost of the local model grows (docs/notes/local-price.md).

Runs have 10^15 users at epsilon = 1 with one-hot questions, with rows that count only the users who were told to play
them and with rows that count all. `python -m bench.bundled local-price` writes the result for the page.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dprl import RunSpec, run
from dprl.metrics import growth_by_decade
from dprl.metrics.curves import RunCurves

PROBLEMS: list[tuple[str, dict[str, Any]]] = [
    ("riverswim", {}),
    ("riverswim", {"variant": "strehl-littman"}),
    ("gridworld", {}),
    ("chain", {}),
    ("clinic", {}),
    ("random", {}),
    ("hard-jdp", {}),
]
SEEDS = 10
USERS = 10**15
DECADES = 3  # exponents are given for the last ones
SETTLED = 1e-9  # of V*, which the last policy loses at most where a seed has settled


def rows() -> Iterator[dict[str, Any]]:
    """For each environment and whose reports a row has: the mean price, the exponent of each of the last decades with
    its 95% t interval over seeds, the last one first, and how many seeds have settled."""
    for environment, params in PROBLEMS:
        told: dict[str, Any] = {
            "environment": environment,
            "environment_params": params,
            "episodes": USERS,
            "seeds": SEEDS,
        }
        bare = run(RunSpec(**told, privacy="none"))
        baseline = RunCurves(bare.episodes, bare.regret)
        for reports in ("played", "all"):
            found = run(RunSpec(**told, privacy="local", mechanism="unary", reports=reports))
            price = RunCurves(found.episodes, found.regret).beyond(baseline)
            decades = growth_by_decade(found.episodes, price)[: -DECADES - 1 : -1]
            yield {
                "environment": environment,
                "params": params,
                "reports": reports,
                "price": float(f"{np.mean(price[:, -1]):.4g}"),
                "exponents": [[round(x, 4) for x in (d.mean, d.low, d.high)] for d in decades],
                "seeds": [d.seeds for d in decades],
                "settled": sum(bool(one.gap[-1] <= SETTLED * one.v_star) for one in found.seeds),
                "of": SEEDS,
            }
