"""Ends of many runs, in a few processes. Of a run its regret at the end is kept, and nothing else is worked out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from dprl.landscape.gather import Compute
from dprl.simulation import RunSpec, kinds

Array = NDArray[np.float64]
Progress = Callable[[float], None]


def ends(spec: RunSpec) -> Array:
    """[seeds] regret at the end. The guarantee of each seed's trace would take longer than many a run."""
    found = np.empty(spec.seeds)
    for seed in range(spec.seeds):
        run = kinds.KINDS[spec.kind].start(spec, seed)
        while not run.advance(1.0):
            pass
        found[seed] = run.curve().values[-1]
    return found


def timed(spec: RunSpec) -> tuple[Array, float]:
    """The same with the seconds of one core that it took."""
    begin = time.process_time()
    return ends(spec), time.process_time() - begin


def alone(specs: Sequence[RunSpec]) -> dict[RunSpec, Array]:
    """All in this process."""
    return {spec: ends(spec) for spec in specs}


@contextmanager
def workers(
    count: int, progress: Progress | None = None, spent: list[float] | None = None
) -> Iterator[Compute]:
    """All in so many processes. progress: called with the share done of what is asked at once; spent: takes the seconds
    of one core of each run."""
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:

        def compute(specs: Sequence[RunSpec]) -> dict[RunSpec, Array]:
            found = {}
            for spec, (values, seconds) in zip(specs, pool.map(timed, specs), strict=True):
                found[spec] = values
                if spent is not None:
                    spent.append(seconds)
                if progress:
                    progress(len(found) / len(set(specs)))
            return found

        yield compute
