"""Measure the cost of a first run on a machine on which nothing has been compiled or computed: CPU seconds, wall
time and memory.

    python -m bench.first_run

Each row is a new process with an empty DPRL_HOME: first `dprl.run` in Python alone, then five seeds on two workers, as
on the dashboard. There the start of the workers counts, and their CPU time and memory are not printed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

CUSTOM = {"environment": "random", "environment_params": {"S": 10, "A": 4, "H": 20}}
RUNS: dict[str, dict[str, Any]] = {
    f"{name}, {privacy}": {**fields, "privacy": privacy, "episodes": 10**9}
    for name, fields in (
        ("riverswim", {}),
        ("clinic", {"environment": "clinic"}),
        ("random 10 x 4 x 20", CUSTOM),
    )
    for privacy in ("central", "shuffle", "local", "none")
}


def play(fields: dict[str, Any], workers: int | None) -> None:
    """Simulate a run in this process or on workers, and print its time and memory as JSON."""
    begin = time.perf_counter()
    import dprl

    first: list[float] = []

    def progress(share: float) -> None:
        if share > 0 and not first:
            first.append(time.perf_counter() - begin)

    spec = dprl.RunSpec(**fields)
    dprl.run(spec, workers=workers, progress=progress)
    whole = time.perf_counter() - begin
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(
        json.dumps(
            {
                "first": first[0] if first else whole,
                "whole": whole,
                "cpu": sum(each.ru_utime + each.ru_stime for each in used),
                "megabytes": max(each.ru_maxrss for each in used) / 1024,
                "numba": "numba" in sys.modules,
            }
        )
    )


def measured(fields: dict[str, Any], workers: int | None) -> dict[str, Any]:
    """Return the time and memory of a run in a new process whose DPRL_HOME is empty."""
    with tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-m", "bench.first_run", "--play", json.dumps([fields, workers])]
        output = subprocess.run(
            command, env={**os.environ, "DPRL_HOME": home}, check=True, capture_output=True, text=True
        ).stdout
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--play", help=argparse.SUPPRESS)
    given = parser.parse_args().play
    if given:
        play(*json.loads(given))
        return
    print(f"{'run':32} {'where':10} {'first s':>8} {'all s':>7} {'CPU s':>7} {'MB':>6}")
    for workers in (None, 2):
        for name, fields in RUNS.items():
            row = measured({"seeds": 5, **fields}, workers)
            place = f"{workers} workers" if workers else "Python"
            alone = "" if workers else f" {row['cpu']:7.1f} {row['megabytes']:6.0f}"
            numba = "  numba was imported" if row["numba"] else ""
            print(f"{name:32} {place:10} {row['first']:8.1f} {row['whole']:7.1f}{alone}{numba}", flush=True)


if __name__ == "__main__":
    main()
