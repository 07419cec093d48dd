"""The site's pages that simulate runs in the browser, one for each ready-made comparison on the Online page."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

from dprl.player import sizes_of
from dprl.simulation import RunSpec, answer, answered
from dprl.simulation.replay import QUESTION, unplayable
from pages.explore.tabs import played_page
from pages.shared.examples import EXAMPLES, ExploreExample
from pages.shared.visitor.links import AT_FIRST

Replays = dict[RunSpec, dict[str, Any]]


def played() -> list[ExploreExample]:
    """Return the examples whose runs a browser can simulate."""
    return [each for each in EXAMPLES if not any(unplayable(curve.spec) for curve in each.curves)]


def runs_of(examples: Sequence[ExploreExample]) -> list[RunSpec]:
    """Return the runs to prepare for these examples, each at several numbers of users, without duplicates."""
    curves = [curve.spec for each in examples for curve in each.curves]
    # The number of seeds does not matter: each run is prepared for the largest possible number.
    sizes = (spec.replace(episodes=size, seeds=1) for spec in curves for size in sizes_of(spec))
    return list(dict.fromkeys(sizes))


def replays(runs: Sequence[RunSpec], workers: int) -> Replays:
    """Compute the data that a browser needs to play each run (see `replay.replayed`). Raises SpecError."""
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        found = pool.map(partial(answer, QUESTION), runs)
        return dict(zip(runs, map(answered, found), strict=True))


def page_of(example: ExploreExample, ready: Replays, nav: str) -> str:
    """Build an example's page as HTML from the results of `replays`. `nav` has the links to other pages."""
    return played_page(
        example.title, example.curves, AT_FIRST, lambda spec: ready[spec.replace(seeds=1)], nav
    )
