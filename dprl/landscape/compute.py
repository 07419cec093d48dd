"""Ends of many runs, in a few processes. Of a run its regret at the end is kept, and nothing else is worked out."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from dprl.landscape.gather import Compute
from dprl.simulation import RunSpec, kinds

Array = NDArray[np.float64]
Progress = Callable[[float], None]


def final_regret(spec: RunSpec) -> Array:
    """[seeds] regret at the end. The guarantee of each seed's trace would take longer than many a run."""
    found = np.empty(spec.seeds)
    for seed in range(spec.seeds):
        run = kinds.KINDS[spec.kind].start(spec, seed)
        while not run.advance(1.0):
            pass
        found[seed] = run.curve().values[-1]
    return found


def timed(specs: Sequence[RunSpec]) -> tuple[list[Array], float]:
    """Several runs one after the other, with the seconds of one core that they took."""
    begin = time.process_time()
    return [final_regret(spec) for spec in specs], time.process_time() - begin


def grouped(specs: Sequence[RunSpec]) -> list[list[RunSpec]]:
    """Those that have the same noise together: it is solved for once in a process."""
    groups: dict[Hashable, list[RunSpec]] = {}
    for spec in dict.fromkeys(specs):
        noise = (spec.environment, spec.algorithm, spec.privacy, spec.episodes)
        groups.setdefault(noise, []).append(spec)
    return list(groups.values())


@contextmanager
def workers(
    count: int, progress: Progress | None = None, spent: list[float] | None = None
) -> Iterator[Compute]:
    """All in so many processes. progress: called with the share done of what is asked at once; spent: takes the seconds
    of one core that runs took."""
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:

        def compute(specs: Sequence[RunSpec]) -> dict[RunSpec, Array]:
            found: dict[RunSpec, Array] = {}
            groups = grouped(specs)
            for group, (values, seconds) in zip(groups, pool.map(timed, groups), strict=True):
                found |= zip(group, values, strict=True)
                if spent is not None:
                    spent.append(seconds)
                if progress:
                    progress(len(found) / len(set(specs)))
            return found

        yield compute
