"""Pages that play their runs: one for each comparison that Online offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from typing import Any

from dprl.player import PlayedCurve, Shown, player_page, sizes_of
from dprl.player.content import PlayedMeasure
from dprl.simulation import RunSpec
from dprl.version import VERSION
from dprl.wasm import unplayable
from dprl.wasm.replay import replayed
from pages.shared.examples import EXAMPLES, ExploreExample
from pages.shared.names import in_common, kinds, titles

Replays = dict[RunSpec, dict[str, Any]]


def played() -> list[ExploreExample]:
    """The comparisons whose runs a browser can play."""
    return [each for each in EXAMPLES if not any(unplayable(curve.spec) for curve in each.curves)]


def runs_of(examples: Sequence[ExploreExample]) -> list[RunSpec]:
    """What has to be prepared for them: each run at each of its numbers of users, once."""
    curves = [curve.spec for each in examples for curve in each.curves]
    return list(dict.fromkeys(prepared(spec, size) for spec in curves for size in sizes_of(spec)))


def prepared(spec: RunSpec, size: int) -> RunSpec:
    """A run at a number of users, however many seeds it has: it is prepared for as many as can be."""
    return spec.replace(episodes=size, seeds=1)


def replays(runs: Sequence[RunSpec], workers: int, say: Callable[[int], None]) -> Replays:
    """Of each run what `wasm.replayed` finds. say: is told how many are done."""
    found: Replays = {}
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        waiting = {pool.submit(replayed, spec): spec for spec in runs}
        for done in as_completed(waiting):
            found[waiting[done]] = done.result()
            say(len(found))
    return found


def page_of(example: ExploreExample, ready: Replays, nav: str) -> str:
    """The page of one of them."""
    unnamed = [replace(curve, name="") for curve in example.curves]
    rows = zip(example.curves, titles(example.curves), titles(unnamed), kinds(example.curves), strict=True)
    curves = [
        PlayedCurve(curve.spec, title, label, look, dict(sized(curve.spec, ready)), curve.name)
        for curve, title, label, look in rows
    ]
    view = example.view
    measure: PlayedMeasure = "per-episode" if view.measure == "per-episode" else "cumulative"
    about = in_common(example.curves, moving=True)
    shown = Shown(measure, view.x, view.y)
    return player_page(example.title, about, curves, shown, footer=f"dprl {VERSION}", nav=nav)


def sized(spec: RunSpec, ready: Replays) -> Iterator[tuple[int, dict[str, Any]]]:
    """Of a run each number of users, and what is prepared for it."""
    for size in sizes_of(spec):
        yield size, ready[prepared(spec, size)]
