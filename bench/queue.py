"""What the queue costs with 20,000 seeds waiting: asking for a run, claiming a seed, and a status with its forecast.

    python -m bench.queue

Medians in CPU milliseconds of one thread, on a simulation that computes nothing.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from dprl.jobs.store import Store
from tests.jobs import fake
from tests.jobs.fake import FakeSpec

SHAPES = ((200, 20, 5), (4000, 1, 5), (25, 8, 100), (1, 200, 100))  # visitors, runs of each, seeds of each


def main() -> None:
    """A line for each shape."""
    for visitors, runs, seeds in SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            store = Store(Path(folder) / "runs.sqlite", fake.simulation())
            asked = [
                (FakeSpec(f"{v}/{r}", seeds, seconds=5.0), f"v{v}")
                for v in range(visitors)
                for r in range(runs)
            ]
            request = median([partial(store.requests.add, *one) for one in asked])
            claim = median([partial(store.jobs.claim, f"w{i}") for i in range(20)])
            status = median([partial(store.status.of, asked[-1][0])])
            store.close()
        print(
            f"{visitors} visitors x {runs} runs x {seeds} seeds: request {request:.2f} ms, claim {claim:.1f} ms, "
            f"status {status:.1f} ms"
        )


def median(calls: list[Callable[[], object]]) -> float:
    """CPU milliseconds of one of these."""
    spent = []
    for call in calls:
        begin = time.thread_time()
        call()
        spent.append(1000 * (time.thread_time() - begin))
    return statistics.median(spent)


if __name__ == "__main__":
    main()
