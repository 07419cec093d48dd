"""What a seed costs, and where crowds break a server: python -m bench.scale [--measure]

With --measure: CPU seconds, bytes and writes of a seed, for some runs, through the store. Else a simulation of a class,
a course and a front page, from what was measured (docs/notes/scale.md): visits take turns in pages' processes, of one
core each, and seeds in workers; prints how busy both are in the worst hour, how long visitors wait, and what goes out.
"""

from __future__ import annotations

import argparse
import heapq
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dprl import OfflineSpec, RunSpec
from dprl.jobs import worker
from dprl.jobs.simulation import dprl_simulation
from dprl.jobs.store import Store

RUNS: dict[str, Any] = {
    "central, 10^9 users": RunSpec(),
    "central, 10^15 users": RunSpec(episodes=10**15),
    "no privacy, 10^9 users": RunSpec(privacy="none"),
    "local, 10^12 users": RunSpec(privacy="local", episodes=10**12),
    "users one by one, 10^5": RunSpec(
        schedule="episodic", episodes=10**5, mechanism="laplace-tree", bonus="paper"
    ),
    "a data set of 10^6": OfflineSpec(n=10**6),
}
SEEDS = 5


def measure() -> None:
    """A line for each run."""
    with tempfile.TemporaryDirectory() as home:
        store = Store(Path(home) / "runs.sqlite", dprl_simulation())
        for name, spec in RUNS.items():
            for warm in (True, False):
                chosen = spec.replace(root_seed=1 if warm else 2, seeds=1 if warm else SEEDS)
                store.requests.add(chosen, "bench")
                size, commits, begin = store.size_bytes(), store.jobs._file.commits, time.process_time()
                while (unit := store.jobs.claim("w")) is not None:
                    worker.compute_seed(store, dprl_simulation(), unit, threading.Event())
            spent = (time.process_time() - begin) / SEEDS
            trace = np.mean([len(found.to_bytes()) for found in store.results.traces(chosen)])
            curve = np.mean([at.nbytes + values.nbytes for _, at, values in store.results.live(chosen)])
            print(
                f"{name}: {spent:.3f} CPU s, trace {trace / 1000:.0f} kB, curve {curve / 1000:.1f} kB, "
                f"store {(store.size_bytes() - size) / SEEDS / 1000:.0f} kB, "
                f"{(store.jobs._file.commits - commits) / SEEDS:.1f} writes a seed"
            )
        store.close()


# What was measured: docs/notes/scale.md says how. CPU seconds of a core, and bytes.
VIEW, VIEW_BYTES = 0.035, 130e3  # opening a page
USE, USE_BYTES = 0.05, 130e3  # a press, or a move of a slider
REDRAW = 0.03  # of a chart that grows
SEED, SEED_BYTES = 0.07, 1.25e6  # a private run to 10^9 users with the default schedule
FRONT_END = 2.1e6  # Streamlit's own files for a page with a chart, packed, which a browser keeps


@dataclass(frozen=True)
class Crowd:
    """Visitors who come in `hours`, of whom `share` come in the busiest hour.

    Each opens `views` pages, uses something `uses` times and asks for `runs` of `seeds` seeds.
    """

    name: str
    visitors: int
    hours: float
    share: float
    views: float = 4.0
    uses: float = 10.0
    runs: float = 0.2
    seeds: int = 5


CROWDS = (
    Crowd("a class of 40, one hour", 40, 1.0, 1.0, views=6.0, uses=30.0, runs=6.0),
    Crowd("a course of 1,000, one evening", 1000, 5.0, 0.35, views=8.0, uses=30.0, runs=6.0),
    Crowd("a front page, 10^5 in a day", 100_000, 24.0, 0.1),
    Crowd("the same, all runs asked for", 100_000, 24.0, 0.1, runs=2.0),
)


def waits(arrivals: np.ndarray, service: np.ndarray, servers: int) -> np.ndarray:
    """Seconds that each of those who come waits for one of `servers`, first come first served."""
    free = [0.0] * servers
    found = np.empty(len(arrivals))
    for i, (at, takes) in enumerate(zip(arrivals, service, strict=True)):
        begin = max(at, free[0])
        found[i] = begin - at
        heapq.heapreplace(free, begin + takes)
    return found


def simulate(crowd: Crowd, pages: int, workers: int, rng: np.random.Generator) -> str:
    """The busiest hour, in words."""
    people = round(crowd.visitors * crowd.share)

    def hour(each: float) -> np.ndarray:
        return np.sort(rng.uniform(0.0, 3600.0, rng.poisson(people * each)))

    views, uses, runs = hour(crowd.views), hour(crowd.uses), hour(crowd.runs)
    seeds = np.repeat(runs, crowd.seeds)
    computed = waits(seeds, rng.exponential(SEED, len(seeds)), workers)
    # While its seeds wait and run, a run is looked at every second.
    looks = int(len(runs) * (1.0 + np.mean(computed) if len(runs) else 0.0))
    at = np.concatenate([views, uses, rng.uniform(0.0, 3600.0, min(looks, 10**7))])
    takes = np.repeat([VIEW, USE, REDRAW], [len(views), len(uses), len(at) - len(views) - len(uses)])
    order = np.argsort(at)
    waited = waits(at[order], takes[order], pages)
    gigabytes = crowd.visitors * (FRONT_END + crowd.views * VIEW_BYTES + crowd.uses * USE_BYTES) / 1e9
    return (
        f"{crowd.name}, {pages} x pages, {workers} workers: pages busy {takes.sum() / 3600 / pages:.0%}, "
        f"p95 wait {np.quantile(waited, 0.95):.2f} s; workers busy {len(seeds) * SEED / 3600 / workers:.0%}, "
        f"p95 wait {np.quantile(computed, 0.95) if len(seeds) else 0.0:.1f} s; {gigabytes:,.1f} GB out, of them "
        f"{crowd.visitors * FRONT_END / 1e9:,.1f} front end; "
        f"{crowd.visitors * crowd.runs * crowd.seeds * SEED_BYTES / 1e9:,.1f} GB of results"
    )


def main() -> None:
    """A line for each crowd, with one server of two cores, and with what would do."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--measure", action="store_true")
    if parser.parse_args().measure:
        measure()
        return
    for crowd in CROWDS:
        for pages, workers in ((1, 2), (2, 4), (4, 8), (8, 16)):
            print(simulate(crowd, pages, workers, np.random.default_rng(0)), flush=True)


if __name__ == "__main__":
    main()
