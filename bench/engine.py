"""How fast the engine is on one core, against the figures it must reach.

    python -m bench.engine [--repeats 5]

RiverSwim, S = 6, A = 2, H = 20. The kernels are compiled and the caches warm before anything is timed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from dataclasses import dataclass
from typing import Any

import dprl
from dprl.simulation import warm


@dataclass(frozen=True)
class Case:
    """A run, what is measured of it (in `unit`), the figure it must reach and the one aimed at."""

    name: str
    unit: str  # "episodes/s" (more is better) or "s" (less is better)
    floor: float
    aim: float
    fields: dict[str, Any]


CENTRAL = {"algorithm": "dp-ucbvi", "privacy": "central", "mechanism": "laplace-tree", "epsilon": 1.0}
CASES = (
    Case(
        "episodic, non-private",
        "episodes/s",
        150_000,
        250_000,
        {"algorithm": "ucbvi", "bonus": "paper", "schedule": "episodic", "episodes": 400_000},
    ),
    Case(
        "episodic, central",
        "episodes/s",
        30_000,
        45_000,
        {**CENTRAL, "bonus": "paper", "schedule": "episodic", "episodes": 100_000},
    ),
    Case(
        "geometric(0.02) to 1e15, central",
        "s",
        1.5,
        1.0,
        {**CENTRAL, "bonus": "paper", "schedule": "geometric:0.02", "episodes": 10**15},
    ),
)


def measure(case: Case, root_seed: int) -> float:
    """One run of one seed: its episodes a second or its seconds, as the case's unit says."""
    spec = dprl.RunSpec(
        environment="riverswim",
        environment_params={"S": 6, "H": 20},
        seeds=1,
        root_seed=root_seed,
        **case.fields,
    )
    seed = dprl.run(spec).seeds[0]
    return seed.episodes_per_s if case.unit == "episodes/s" else seed.seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="runs of each case; the median is printed")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    warm()
    missed = 0
    print(f"{'case':34} {'median':>10} {'worst':>10} {'must be':>10} {'aim':>10}")
    for case in CASES:
        values = [measure(case, repeat) for repeat in range(arguments.repeats)]
        median = statistics.median(values)
        worst = min(values) if case.unit == "episodes/s" else max(values)
        missed += median < case.floor if case.unit == "episodes/s" else median > case.floor
        row = " ".join(
            f"{value:>10,.6g}" if case.unit == "s" else f"{value:>10,.0f}"
            for value in (median, worst, case.floor, case.aim)
        )
        print(f"{case.name:34} {row} {case.unit}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
