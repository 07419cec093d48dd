"""The module in wasmtime against numba: speed as ratios, memory, first results, bits.

    pip install -e ".[web]"
    python -m bench.engine_wasm.compare [--repeats 5] [--bits]

Both play the same prepared runs in turn, in one process, and CPU time is counted: how busy the machine is cancels. A
worker's memory and its first result are those of processes of their own. --bits compares all runs of
tests/wasm/cases.py.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import dprl
from bench.engine_wasm.host import Host
from dprl.simulation.loops.replan import SeedRun
from dprl.wasm import pack
from tests.wasm.cases import begun, cases, differing, natively

CENTRAL = {
    "algorithm": "dp-ucbvi",
    "privacy": "central",
    "mechanism": "laplace-tree",
    "calibration": "paper",
    "bonus": "paper",
}
# The runs that are timed, by name.
CASES: dict[str, dict[str, Any]] = {
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

FLOOR = 0.8  # of native, in every row, or numba stays
FIRST = {"privacy": "central", "mechanism": "gaussian-toeplitz", "episodes": 10**6}


def spec_of(fields: dict[str, Any], root_seed: int = 0) -> dprl.RunSpec:
    """RiverSwim with S = 6 and H = 20, one seed."""
    return dprl.RunSpec(
        environment="riverswim", environment_params={"S": 6, "H": 20}, seeds=1, root_seed=root_seed, **fields
    )


def measured(fields: dict[str, Any], root_seed: int) -> tuple[float, float, list[str]]:
    """CPU seconds of one run natively and in wasmtime, and which arrays differ at the end."""
    run = SeedRun(spec_of(fields, root_seed), 0)
    host = Host(pack(run))
    begin = time.process_time()
    native = natively(run)
    between = time.process_time()
    host.play()
    return between - begin, time.process_time() - between, differing(native, host.read())


def first_result(how: str) -> None:
    """In a process of its own: one run from its spec to its regret, by `native` or `module`; prints what it took."""
    spec = spec_of(FIRST)
    if how == "native":
        run = SeedRun(spec, 0)
        while not run.advance(60.0):
            pass
    else:
        host = Host(pack(SeedRun(spec, 0, plain=True)))
        host.play()
        host.read()
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def process(how: str, home: str) -> tuple[float, float]:
    """CPU seconds and peak MB of a new process up to its first result. home: where compiled kernels are kept."""
    command = [sys.executable, "-m", "bench.engine_wasm.compare", "--first", how]
    said = subprocess.run(
        command, env={**os.environ, "DPRL_HOME": home}, check=True, capture_output=True, text=True
    ).stdout
    seconds, megabytes = map(float, said.split())
    return seconds, megabytes


def compare_rows(repeats: int) -> bool:
    """Print the rows; whether every one is fast enough."""
    enough = True
    print(f"{'case':34} {'native s':>9} {'module s':>9} {'ratio':>6} {'of runs':>14}  bits")
    for name, fields in CASES.items():
        rows = [measured(fields, repeat) for repeat in range(repeats)]
        ratios = [native / module for native, module, _ in rows]
        ratio = statistics.median(ratios)
        enough &= ratio >= FLOOR
        native, module = statistics.median(row[0] for row in rows), statistics.median(row[1] for row in rows)
        wrong = sorted({array for row in rows for array in row[2]})
        print(
            f"{name:34} {native:9.3f} {module:9.3f} {ratio:6.2f} {min(ratios):6.2f} to {max(ratios):4.2f}  "
            f"{'the same' if not wrong else 'differ: ' + ', '.join(wrong)}",
            flush=True,
        )
    return enough


def compare_processes() -> None:
    """Print what a new process takes up to its first result."""
    with tempfile.TemporaryDirectory() as home:
        for name, how in (
            ("numba, nothing compiled yet", "native"),
            ("numba, kernels on disk", "native"),
            ("module", "module"),
        ):
            seconds, megabytes = process(how, home)
            print(f"first result, {name:27} {seconds:6.1f} CPU s, peak {megabytes:4.0f} MB", flush=True)


def compare_bits() -> bool:
    """Print runs whose bits differ; whether there are none."""
    every = list(cases())
    wrong = 0
    for case in every:
        run, packed = begun(case)
        host = Host(packed)
        host.play()
        if names := differing(natively(run), host.read()):
            wrong += 1
            print(f"{case.name}: {', '.join(names)}", flush=True)
    print(f"{len(every) - wrong} of {len(every)} runs have the same bits")
    return wrong == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5, help="runs of each row; the median is printed")
    parser.add_argument("--bits", action="store_true", help="compare the bits of all runs, and nothing else")
    parser.add_argument("--first", choices=("native", "module"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.first:
        first_result(arguments.first)
        return 0
    if arguments.bits:
        return 0 if compare_bits() else 1
    enough = compare_rows(arguments.repeats)
    compare_processes()
    print(f"every row at least {FLOOR} of native: {'yes' if enough else 'no'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
