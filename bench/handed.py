"""What it costs to hand compiled functions to a kernel, where each is looked up anew and where that is remembered:

    python -m bench.handed [--repeats 5]

CPU milliseconds of a whole run, the least of so many, both ways in turn (dprl/kernels/addresses.py).
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from numba.experimental import function_type

import dprl
from dprl.kernels import addresses
from dprl.simulation import start

SMALL: dict[str, Any] = {"environment_params": {"S": 3, "H": 3}, "seeds": 1}
RUNS = {
    "10,000 users, without privacy, small": dprl.RunSpec(**SMALL, episodes=10**4, privacy="none"),
    "a million users": dprl.RunSpec(episodes=10**6, seeds=1),
    "10^15 users": dprl.RunSpec(episodes=10**15, seeds=1),
    "a linear model, a million users": dprl.RunSpec(
        environment="linear-mixture", algorithm="ucrl-vtr", privacy="central", episodes=10**6, seeds=1
    ),
}


def played(spec: Any, seed: int) -> float:
    """CPU seconds of a run."""
    before = time.process_time()
    run = start(spec, seed)
    while not run.advance():
        pass
    run.trace()
    return time.process_time() - before


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    for spec in RUNS.values():
        played(spec, 0)  # loads what is compiled
    ours = {name: getattr(function_type, name) for name in addresses.LOOKED_UP}
    ways = {name: {"anew": look_up.__wrapped__, "remembered": look_up} for name, look_up in ours.items()}
    for title, spec in RUNS.items():
        least = {"anew": float("inf"), "remembered": float("inf")}
        for seed in range(repeats):
            for way in least:
                for name, chosen in ways.items():
                    setattr(function_type, name, chosen[way])
                least[way] = min(least[way], played(spec, seed))
        print(f"{title}: {1e3 * least['anew']:.1f} ms anew, {1e3 * least['remembered']:.1f} ms remembered")


if __name__ == "__main__":
    main()
