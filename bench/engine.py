"""How fast the engine is on one core, against the figures it must reach.

    python -m bench.engine [--repeats 5]

RiverSwim, S = 6, A = 2, H = 20. Time is CPU time; the kernels are compiled and the caches warm before it counts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

import dprl
from dprl.kernels import compiled, kernel
from dprl.mdp.tabular import Array
from dprl.privacy.mechanisms.laplace import add_laplace
from dprl.simulation import start, warm
from dprl.statistics import consistency


@dataclass(frozen=True)
class Case:
    """A run, what is measured of it (in `unit`), the figure it must reach and the one aimed at."""

    name: str
    unit: str  # "episodes/s" (more is better) or "s" (less is better)
    floor: float
    aim: float
    fields: dict[str, Any]


CENTRAL = {
    "algorithm": "dp-ucbvi",
    "privacy": "central",
    "mechanism": "laplace-tree",
    "calibration": "paper",
    "epsilon": 1.0,
}
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
    Case(
        "adaptive(0.1) to 1e15, central",
        "s",
        1.5,
        1.0,
        {"privacy": "central", "episodes": 10**15},
    ),
    Case(
        "geometric(0.02) to 1e8, Toeplitz",
        "s",
        0.5,
        0.2,
        {"privacy": "central", "bonus": "paper", "schedule": "geometric:0.02", "episodes": 10**8},
    ),
)


OVER_DRAWS = 2.5


def measure(case: Case, root_seed: int) -> float:
    """One run of one seed: its episodes a second or its seconds, as the case's unit says."""
    spec = dprl.RunSpec(
        environment="riverswim",
        environment_params={"S": 6, "H": 20},
        seeds=1,
        root_seed=root_seed,
        **case.fields,
    )
    run = start(spec, 0)
    begin = time.process_time()
    while not run.advance(60.0):
        pass
    seconds = time.process_time() - begin
    return spec.episodes / seconds if case.unit == "episodes/s" else seconds


@kernel
def draw(times: int, rng: np.random.Generator, noise: Array) -> None:
    """One Laplace draw in each cell, so many times, and nothing else."""
    for _ in range(times):
        add_laplace(rng, 1, noise)


def draws(cells: int, times: int = 2_000) -> float:
    """Seconds for one Laplace draw in each of so many counters."""
    drawn = compiled(draw, "void(int64, npy_rng, float64[::1])")
    rng, noise = np.random.Generator(np.random.SFC64(0)), np.zeros(cells)
    begin = time.process_time()
    drawn(times, rng, noise)
    return (time.process_time() - begin) / times


def over_draws(case: Case, repeats: int) -> list[float]:
    """How long the episodes of a case take with a tree of Laplace noise, relative to their draws alone, measured in
    turn. An episodic tree draws once in each counter an episode: the other nodes of a prefix are kept."""
    return [1 / (measure(case, repeat) * draws(6 * 2 * 20 * (6 + 2))) for repeat in range(repeats)]


def post_processing(programs: int = 200) -> tuple[float, float]:
    """Seconds for one linear program of the post-processing: HiGHS through SciPy, and the closed form compiled."""
    rng = np.random.default_rng(0)
    S, slack, rows = 6, 50.0, 20_000
    noisy = rng.normal(100, 200, (1, rows, 1, S + 2))
    released = np.empty_like(noisy)
    errors, tau2 = np.full((1, rows, 1), 4 * slack), np.ones(1)
    closed_form = compiled(consistency.consistent, consistency.SIGNATURE)
    begin = time.perf_counter()
    for _ in range(10):
        closed_form(noisy, errors, tau2, released)
    ours = (time.perf_counter() - begin) / (10 * rows)
    # variables x[0..S-1] and t: minimise t with |x - m| <= t, |sum x - n| <= slack
    eye, column = np.eye(S), np.ones((S, 1))
    A = np.block([[eye, -column], [-eye, -column], [np.ones(S), 0.0], [-np.ones(S), 0.0]])
    begin = time.perf_counter()
    for row in noisy[0, :programs, 0]:
        m, n = row[:S], row[S]
        linprog(
            np.eye(S + 1)[S], A_ub=A, b_ub=np.concatenate([m, -m, [n + slack, slack - n]]), method="highs"
        )
    return (time.perf_counter() - begin) / programs, ours


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="runs of each case; the median is printed")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    list(warm())
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
    ratios = over_draws(CASES[1], arguments.repeats)
    print(
        f"{CASES[1].name}: {statistics.median(ratios):.2f} times its Laplace draws alone "
        f"({min(ratios):.2f} to {max(ratios):.2f}; must be {OVER_DRAWS})"
    )
    missed += statistics.median(ratios) > OVER_DRAWS
    highs, ours = post_processing()
    print(
        f"post-processing: HiGHS {highs * 1e3:.2f} ms a program, closed form {ours * 1e6:.3f} us: "
        f"{highs / ours:,.0f} times as fast (must be 5,000)"
    )
    missed += highs / ours < 5000
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
