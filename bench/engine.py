"""Compare the WebAssembly module with numba: their speed, and whether results have the same bits.

    python -m bench.engine [--repeats 5] [--bits]

Both run the same seeds alternately in one process, from the spec to the trace. CPU time is counted, so that other load
on the machine cancels. --bits compares the bits of all runs in tests/wasm/cases.py, and nothing else.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from typing import Any

import dprl
from dprl.simulation.loops.replan import SeedRun
from tests.wasm.cases import ByModule, cases, differing, ended

CENTRAL = {
    "algorithm": "dp-ucbvi",
    "privacy": "central",
    "mechanism": "laplace-tree",
    "calibration": "paper",
    "bonus": "paper",
}
# The timed runs, by name: the default spec in each privacy model, then long ones.
CASES: dict[str, dict[str, Any]] = {
    **{f"default, {privacy}": {"privacy": privacy} for privacy in ("central", "shuffle", "local", "none")},
    **{
        f"clinic, {privacy}": {"environment": "clinic", "privacy": privacy}
        for privacy in ("central", "shuffle", "local", "none")
    },
    "episodic, non-private": {
        "algorithm": "ucbvi",
        "bonus": "paper",
        "schedule": "episodic",
        "episodes": 400_000,
    },
    "episodic, central": {**CENTRAL, "schedule": "episodic", "episodes": 100_000},
    "geometric(0.02) to 1e15, central": {**CENTRAL, "schedule": "geometric:0.02", "episodes": 10**15},
    "adaptive(0.1) to 1e15, central": {"privacy": "central", "episodes": 10**15},
}


def seconds(kind: type[SeedRun], spec: dprl.RunSpec, seed: int) -> tuple[float, SeedRun]:
    """Run one seed; return its CPU seconds, and the finished run."""
    begin = time.process_time()
    run = kind(spec, seed)
    while not run.advance(60.0):
        pass
    run.trace()
    return time.process_time() - begin, run


def compare_speed(repeats: int) -> None:
    """Print the CPU times of numba and of the module for each case, and their ratio."""
    print(f"{'case':34} {'numba s':>9} {'module s':>9} {'ratio':>6} {'of runs':>14}")
    for name, fields in CASES.items():
        spec = dprl.RunSpec(**{"seeds": 1, **fields})
        for kind in (SeedRun, ByModule):
            seconds(kind, spec, repeats)  # compiles, and computes what all seeds share
        pairs = [(seconds(SeedRun, spec, i)[0], seconds(ByModule, spec, i)[0]) for i in range(repeats)]
        ratios = [native / module for native, module in pairs]
        native, module = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(
            f"{name:34} {native:9.3f} {module:9.3f} {statistics.median(ratios):6.2f} "
            f"{min(ratios):6.2f} to {max(ratios):4.2f}",
            flush=True,
        )


def compare_bits() -> int:
    """Print the runs whose results have different bits, and return their number."""
    wrong = 0
    every = list(cases())
    for case in every:
        by_module, by_numba = (kind(case.spec, 0, walk_below=case.walk_below) for kind in (ByModule, SeedRun))
        if names := differing(ended(by_numba), ended(by_module)):
            wrong += 1
            print(f"{case.name}: {', '.join(names)}", flush=True)
    print(f"{len(every) - wrong} of {len(every)} runs have the same bits")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="seeds of each case; the median is printed")
    parser.add_argument("--bits", action="store_true", help="only compare the bits of all runs' results")
    arguments = parser.parse_args()
    if arguments.bits:
        return min(compare_bits(), 1)
    compare_speed(arguments.repeats)
    return 0


if __name__ == "__main__":
    sys.exit(main())
