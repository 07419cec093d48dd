"""What it gains to declare that transitions and rewards do not depend on the step: the same problems with and without.

    python -m bench.stationary [--seeds 20] [--only riverswim] [--models central none]
    python -m bench.stationary --optimism 4000

The first prints for each problem and privacy model (epsilon 1, delta 1e-6, all else by default, but what takes the
fewest users with a shuffler and with no trusted party), as medians over seeds: users until an average episode has lost
10% of V*, and regret. The second plays short runs on random stationary models and counts those whose Q~ was ever below
Q*: Q~ never rises, so the last one tells of every release.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from scipy import stats

import dprl
from bench.optimism import lost
from bench.structure import MAP
from dprl import RunSpec
from dprl.simulation.pairs import mechanisms_for, not_pooled
from dprl.words import human

K = {"none": 10**9, "central": 10**10, "shuffle": 10**11, "local": 10**15}
BEST = {
    "local": {"mechanism": "unary", "reports": "played"},
    "shuffle": {"mechanism": "binomial-sum", "reports": "played"},
}
PROBLEMS: dict[str, dict[str, Any]] = {
    "riverswim": {},
    "clinic": {"environment": "clinic"},
    "chain": {"environment": "chain"},
    "FrozenLake": {"environment": "gymnasium"},
    "gridworld": {"environment": "gridworld"},
    "random": {"environment": "random"},
    # sizes that nothing was tuned on
    "riverswim, S = 4, H = 9": {"environment_params": {"S": 4, "H": 9}},
    "riverswim, S = 8, H = 24": {"environment_params": {"S": 8, "H": 24}},
    "clinic, 4 levels, 2 doses": {"environment": "clinic", "environment_params": {"levels": 4, "doses": 2}},
    "chain, S = 8, A = 2, H = 16": {"environment": "chain", "environment_params": {"S": 8, "A": 2, "H": 16}},
    "gridworld, walls": {"environment": "gridworld", "environment_params": {"map": MAP, "H": 20}},
    "random, S = 9, A = 4, H = 14": {
        "environment": "random", "environment_params": {"S": 9, "A": 4, "H": 14, "seed": 77},
    },
}  # fmt: skip
SIZES = ((2, 2, 3), (3, 5, 2), (4, 2, 25), (6, 3, 10), (8, 2, 16), (12, 4, 8))  # S, A, H of random models


def needed(spec: RunSpec) -> tuple[float, float, float]:
    """Medians over seeds: users until an average episode has lost 10% of V*, regret, seconds."""
    users, regret, seconds = [], [], []
    for trace in dprl.run(spec).seeds:
        share = trace.regret / (trace.v_star * trace.episodes)
        above = np.flatnonzero(share > 0.1)
        if not above.size:
            users.append(1.0)
        elif above[-1] + 1 == len(share):
            users.append(np.inf)
        else:  # between two points of the curve, on a straight line in logarithms
            i = above[-1]
            at = np.interp(-np.log(0.1), -np.log(share[i : i + 2]), np.log(trace.episodes[i : i + 2]))
            users.append(float(np.exp(at)))
        regret.append(trace.regret[-1])
        seconds.append(trace.seconds)
    return float(np.median(users)), float(np.median(regret)), float(np.median(seconds))


def table(seeds: int, only: str, models: list[str]) -> None:
    """Print users and regret of every problem, model and declaration."""
    print("problem | model | users without, with | ratio | regret without, with | seconds without, with")
    for name, fields in PROBLEMS.items():
        if only not in name:
            continue
        for privacy in models:
            found = []
            for stationary in ("no", "yes"):
                given: dict[str, Any] = {
                    "privacy": privacy,
                    "stationary": stationary,
                    "episodes": K[privacy],
                    "seeds": seeds,
                } | BEST.get(privacy, {})
                spec = RunSpec(**fields, **given)
                found.append(needed(spec))
            (usual, lost_, slow), (told, less, quick) = found
            print(
                f"| {name} | {privacy} | {usual:.2g}, {told:.2g} | {usual / told:.1f} | {human(lost_)}, "
                f"{human(less)} | {slow:.1f}, {quick:.1f} |",
                flush=True,
            )


def optimism(runs: int, beta: float) -> None:
    """Print how many runs lost optimism, over models, sizes, numbers of users, privacy models and mechanisms."""
    kinds: list[tuple[str, str | None]] = [("none", None)]
    kinds += [
        (privacy, mechanism)
        for privacy in ("central", "shuffle", "local")
        for mechanism in mechanisms_for("dp-ucbvi", privacy)
        if not not_pooled("dp-ucbvi", mechanism, "tight", "anytime")
    ]
    rng = np.random.default_rng(0)
    failed = dict.fromkeys(kinds, 0)
    made = dict.fromkeys(kinds, 0)
    for i in range(runs):
        kind = kinds[i % len(kinds)]
        S, A, H = SIZES[rng.integers(len(SIZES))]
        users = int(rng.choice([10**3, 10**6, 10**9]))
        known = {"local": ["all", "played"], "shuffle": ["all", "played"]}.get(kind[0], ["all"])
        reports = str(rng.choice(known))
        spec = RunSpec(
            environment="random", environment_params={"S": S, "A": A, "H": H, "seed": int(rng.integers(10_000))},
            stationary="yes", privacy=kind[0], mechanism=kind[1], episodes=users, schedule="adaptive:1", beta=beta,
            reports=reports, seeds=1,
        )  # fmt: skip
        failed[kind] += lost(spec, i)
        made[kind] += 1
    for kind in kinds:
        print(f"{kind[0]} {kind[1] or ''}: {failed[kind]} of {made[kind]} lost optimism", flush=True)
    total = sum(failed.values())
    most = stats.binomtest(total, runs).proportion_ci(0.95, method="exact").high
    print(f"all: {total} of {runs}, at most {most:.2g} with 95% confidence; allowed {beta}")


def main() -> None:
    """Print the table, or how often optimism is lost."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--models", nargs="+", default=["none", "central"])
    parser.add_argument("--optimism", type=int, default=0, help="short runs, in place of the table")
    parser.add_argument("--beta", type=float, default=0.5)
    given = parser.parse_args()
    if given.optimism:
        optimism(given.optimism, given.beta)
    else:
        table(given.seeds, given.only, given.models)


if __name__ == "__main__":
    main()
