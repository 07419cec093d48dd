"""What it gains to declare which transitions are possible: the same problems with and without, at the same proof.

    python -m bench.structure [--seeds 5] [--only grid]

For each problem and privacy model (epsilon 1, delta 1e-6, K = 10^9, all else by default): E at the last release, the
users from whom on the average regret stays below 10% of V*, and the regret, as medians over seeds.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

import dprl
from dprl import RunSpec, SpecError
from dprl.simulation.prepare import noise_of_schedule
from dprl.words import human

K = 10**9
MAP = "S-----/-WWWW-/----W-/WWW-W-/----W-/-WWWW-/-----G"  # nobody tuned anything on it


def sparse(seed: int, S: int = 10, A: int = 3, successors: int = 2) -> str:
    """An upload with so many next states for each state and action, drawn at random."""
    rng = np.random.default_rng(seed)
    P = np.zeros((S, A, S))
    for row in P.reshape(-1, S):
        row[rng.choice(S, successors, replace=False)] = rng.dirichlet(np.ones(successors))
    R = np.where(rng.random((S, A)) < 0.2, rng.random((S, A)), 0.0)
    return json.dumps({"P": P.tolist(), "R": R.tolist(), "d1": np.eye(S)[0].tolist()})


PROBLEMS: dict[str, dict[str, Any]] = {
    "riverswim": {},
    "riverswim, S = 12": {"environment_params": {"S": 12, "H": 20}},
    "chain": {"environment": "chain"},
    "clinic": {"environment": "clinic"},
    "gridworld": {"environment": "gridworld"},
    "gridworld, walls": {"environment": "gridworld", "environment_params": {"map": MAP, "H": 20}},
    "FrozenLake": {"environment": "gymnasium"},
    "random": {"environment": "random"},
    **{
        f"upload, 2 of 10 ({seed})": {"environment": "custom", "environment_params": {"model": sparse(seed), "H": 10}}
        for seed in range(301, 304)
    },
    "upload, 3 of 20": {
        "environment": "custom",
        "environment_params": {"model": sparse(304, 20, 3, 3), "H": 10},
    },
    "Taxi": {"environment": "gymnasium", "environment_params": {"id": "Taxi-v3", "H": 20}},
}  # fmt: skip


def measured(spec: RunSpec) -> str:
    """Counters, E at the last release; and medians over seeds: users needed, regret, last loss over V*."""
    needed, regret, gap = [], [], []
    for trace in dprl.run(spec).seeds:
        above = np.flatnonzero(trace.regret > 0.1 * trace.v_star * trace.episodes)
        after = np.append(trace.episodes[1:], np.inf)
        needed.append(after[above[-1]] if above.size else 1.0)
        regret.append(trace.regret[-1])
        gap.append(trace.gap[-1] / trace.v_star)
    E = float(noise_of_schedule(spec, spec.episodes).bound[-1])
    users, lost, last = (float(np.median(x)) for x in (needed, regret, gap))
    shown = "none of them" if np.isinf(users) else human(users)
    return f"{spec.work(spec.mechanism).cells:,} | {human(E)} | {shown} | {human(lost)} | {last:.1e}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--models", nargs="+", default=["central", "shuffle", "local", "none"])
    given = parser.parse_args()
    for name, fields in PROBLEMS.items():
        if given.only not in name:
            continue
        for privacy in given.models:
            for structure in (None, "environment"):
                try:
                    spec = RunSpec(
                        **fields, privacy=privacy, structure=structure, episodes=K, seeds=given.seeds
                    )
                except SpecError as error:
                    print(f"| {name} | {privacy} | {structure or 'nothing'} | refused: {error} |", flush=True)
                    continue
                print(f"| {name} | {privacy} | {structure or 'nothing'} | {measured(spec)} |", flush=True)


if __name__ == "__main__":
    main()
