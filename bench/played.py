"""Rows that count only who played them: users needed, time, and optimism, with and without.

    python -m bench.played needed [--seeds 20] [--only chain] [--ways unary,played ...]
    python -m bench.played optimism [--runs 2000] [--epsilon 1]

`needed`: the median over seeds of the users from which on an episode has lost on average at most 10% of V*, K = 10^15
(shuffle: 10^12), epsilon 1, all else by default; and how much processor time a run takes, least of all seeds, over
that with the reports of all users. Six problems of the project, and six sizes that nothing was chosen on.

`optimism`: runs on random models (S to 12, A to 5, H to 25), three lengths, each way to draw noise in turn. Q~ never
rises, so that the last Q~ tells whether any was ever below Q*: that may happen with a chance of at most beta = 0.1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dprl import RunSpec, search
from dprl.mdp import planning
from dprl.simulation import SeedRun
from dprl.words import human

TENTH = 0.1  # of V*
PROBLEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "riverswim": ("riverswim", {}),
    "chain": ("chain", {}),
    "clinic": ("clinic", {}),
    "random": ("random", {}),
    "gridworld": ("gridworld", {}),
    "frozenlake": ("gymnasium", {"id": "FrozenLake-v1"}),
    # sizes that nothing was chosen on
    "riverswim, S=5 H=12": ("riverswim", {"S": 5, "H": 12}),
    "chain, S=4 A=4 H=9": ("chain", {"S": 4, "A": 4, "H": 9}),
    "clinic, 4 levels, 2 doses": ("clinic", {"levels": 4, "doses": 2, "H": 6}),
    "random, S=4 A=5 H=8": ("random", {"S": 4, "A": 5, "H": 8, "seed": 9}),
    "gridworld, 3 by 4": ("gridworld", {"map": "S---/-W--/---G", "H": 9, "slip": 0.2}),
    "hard-jdp, n=3 m=3": ("hard-jdp", {"n": 3, "m": 3, "alpha": 0.2, "H": 6}),
}
WAYS = {
    "gaussian, all": {"privacy": "local", "mechanism": "gaussian", "reports": "all"},
    "gaussian, played": {"privacy": "local", "mechanism": "gaussian", "reports": "played"},
    "unary, all": {"privacy": "local", "mechanism": "unary", "reports": "all"},
    "unary, played": {"privacy": "local", "mechanism": "unary", "reports": "played"},
    "shuffle, all": {"privacy": "shuffle", "mechanism": "binomial-sum", "reports": "all"},
    "shuffle, played": {"privacy": "shuffle", "mechanism": "binomial-sum", "reports": "played"},
}
LENGTHS = (10**3, 10**6, 10**9)


def finished(spec: RunSpec, seed: int) -> tuple[SeedRun, float]:
    """One seed, and the processor time it took."""
    run, begin = SeedRun(spec, seed), time.process_time()
    while not run.advance(60.0):
        pass
    return run, time.process_time() - begin


def needed(run: SeedRun) -> float:
    """Users from which on an episode has lost on average at most TENTH of V*; infinite where never."""
    points = slice(int(run.state.position[3]))
    users, regret = run.record.users[points].astype(float), run.record.regret[points]
    found = search.stays_below(users, regret / users / planning.start_value(run.mdp, run.optimum.V), TENTH)
    return float(np.nan_to_num(found, nan=np.inf))


def table(seeds: int, only: str, ways: Sequence[str], epsilon: float) -> Iterator[str]:
    """A line for each problem and way."""
    yield "problem | way | users until 10% is lost | over all | time over all | largest noise over E"
    for name, (environment, params) in PROBLEMS.items():
        if only not in name:
            continue
        before: dict[str, tuple[float, float]] = {}
        for way in ways:
            spec = RunSpec(
                environment=environment,
                environment_params=params,
                epsilon=epsilon,
                episodes=10**15 if WAYS[way]["privacy"] == "local" else 10**12,
                **WAYS[way],  # type: ignore[arg-type]
            )
            finished(spec.replace(episodes=1000), 0)  # compiles
            runs = [finished(spec, seed) for seed in range(seeds)]
            users, least = float(np.median([needed(r) for r, _ in runs])), min(t for _, t in runs)
            drawn = way.partition(",")[0]
            first = before.setdefault(drawn, (users, least))
            worst = max(float(r.record.ratio.max()) for r, _ in runs)
            yield (
                f"{name} | {way} | {users:.2g} | {users / first[0]:.3f} | {least / first[1]:.2f} | {worst:.2f}"
            )


def violations(runs: int, epsilon: float, ways: Sequence[str]) -> Iterator[str]:
    """How many runs ever had a Q~ below Q*."""
    lost, largest = 0, 0.0
    for number in range(runs):
        rng = np.random.default_rng([34, number])
        sizes = {
            "S": int(rng.integers(2, 13)),
            "A": int(rng.integers(2, 6)),
            "H": int(rng.integers(2, 26)),
            "seed": int(rng.integers(10**6)),
        }
        spec = RunSpec(
            environment="random",
            environment_params=sizes,
            epsilon=epsilon,
            episodes=LENGTHS[number % 3],
            **WAYS[ways[number // 3 % len(ways)]],  # type: ignore[arg-type]
        )
        run, _ = finished(spec, number)
        lost += bool((run.state.Q < run.optimum.Q - 1e-9).any())
        largest = max(largest, float(run.record.ratio.max()))
        if (number + 1) % 100 == 0 or number + 1 == runs:
            yield f"{lost} of {human(number + 1)} runs had a value below Q*; largest noise over E: {largest:.2f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=("needed", "optimism"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--only", default="", help="problems whose names have this in them")
    parser.add_argument("--ways", nargs="+", choices=tuple(WAYS), default=tuple(WAYS))
    given = parser.parse_args()
    played = [way for way in given.ways if not way.endswith("all")]
    lines = (
        table(given.seeds, given.only, given.ways, given.epsilon)
        if given.what == "needed"
        else violations(given.runs, given.epsilon, played)
    )
    for line in lines:
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
