"""How the time of a seed grows with S, A, H, K and the number of releases.

    python -m bench.growth [--repeats 3]

Random MDPs around S = 6, A = 2, H = 20. Time is CPU seconds of one core for one seed, from its start on (drawing
Toeplitz noise included), the least of the repeats; calibrated noise is looked up once, before. An exponent is the slope
of ln(seconds) against ln(what is varied), by least squares.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import Any

import numpy as np

import dprl
from dprl.simulation import start, warm

SIZE = {"S": 6, "A": 2, "H": 20}
TREE = {"algorithm": "dp-ucbvi", "privacy": "central", "mechanism": "laplace-tree", "calibration": "paper"}
NONE = {"algorithm": "ucbvi", "privacy": "none"}
CENTRAL = {"algorithm": "dp-ucbvi", "privacy": "central", "mechanism": "gaussian-toeplitz"}
EPISODIC = {"bonus": "paper", "schedule": "episodic"}
BLOCKS = {"schedule": "geometric:0.02", "episodes": 10**9}
KINDS: dict[str, dict[str, Any]] = {
    "episodic, no privacy": NONE | EPISODIC | {"episodes": 40_000},
    "episodic, central, Laplace tree": TREE | EPISODIC | {"episodes": 4_000},
    "blocks, no privacy": NONE | BLOCKS,
    "blocks, central, Toeplitz": CENTRAL | BLOCKS,
}
SIZES = {"S": (6, 12, 24, 48), "A": (2, 4, 8, 16), "H": (10, 20, 40, 80)}


def varied(fields: dict[str, Any]) -> dict[str, list[tuple[int, dict[str, Any]]]]:
    """What is varied: its values, and the specs' fields with them."""
    result: dict[str, list[tuple[int, dict[str, Any]]]] = {
        axis: [(value, fields | {"environment_params": SIZE | {axis: value}}) for value in values]
        for axis, values in SIZES.items()
    }
    if fields["schedule"] == "episodic":
        K = fields["episodes"]
        result["K, releases"] = [(k, fields | {"episodes": k}) for k in (K // 2, K, 2 * K, 4 * K)]
        return result
    result["K"] = [(K, fields | {"episodes": K}) for K in (10**6, 10**9, 10**12, 10**15)]
    result["releases"] = []
    for eta in (0.08, 0.04, 0.02, 0.01):
        changed = fields | {"schedule": f"geometric:{eta}"}
        result["releases"].append((dprl.estimate(spec_of(changed)).releases, changed))
    return result


def spec_of(fields: dict[str, Any], seed: int = 0) -> dprl.RunSpec:
    """One seed on a random MDP."""
    given: dict[str, Any] = {"environment": "random", "environment_params": SIZE, **fields}
    return dprl.RunSpec(seeds=1, root_seed=seed, **given)


def seconds_of(spec: dprl.RunSpec) -> float:
    """CPU seconds of the spec's first seed."""
    begin = time.process_time()
    run = start(spec, 0)
    while not run.advance(60.0):
        pass
    return time.process_time() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3, help="runs of each; the fastest is printed")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    list(warm())
    for kind, fields in KINDS.items():
        print(f"\n{kind}")
        for axis, points in varied(fields).items():
            values = [value for value, _ in points]
            seconds = [
                min(seconds_of(spec_of(changed, repeat)) for repeat in range(arguments.repeats))
                for _, changed in points
            ]
            slope = np.polyfit(np.log(values), np.log(seconds), 1)[0]
            cells = "  ".join(f"{value:g}: {s:.3g} s" for value, s in zip(values, seconds, strict=True))
            print(f"  {axis:12} {cells:62}  exponent {slope:.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
