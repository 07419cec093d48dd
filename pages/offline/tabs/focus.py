"""Which run, repetition and data set a close look is at: shared by the tabs Pessimism and Policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from dprl.sentences.offline import CLOSE
from dprl.simulation import OfflineSpec, OfflineTrace
from dprl.words import count
from pages.offline import names
from pages.offline.state import offline
from pages.offline.tabs.widgets import widgets
from pages.shared.layout.chart import empty
from pages.shared.results import data
from pages.shared.results.status import ACTIVE, act, price
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import ask, begin


class Close(NamedTuple):
    """What is looked at: one run's trace, and the place of a data set among those with details."""

    spec: OfflineSpec
    title: str
    trace: OfflineTrace
    at: int

    @property
    def n(self) -> int:
        """The size of the data set."""
        return int(self.trace.detail_n[self.at])

    @property
    def gap(self) -> float:
        """Of the policy learned from it."""
        return float(self.trace.curve.values[list(self.trace.curve.at).index(self.n)])

    @property
    def key(self) -> tuple[str, int, int]:
        """Names it."""
        return self.spec.to_json(), self.trace.seed, self.n


def chosen_spec(specs: Sequence[OfflineSpec]) -> int:
    """A menu of the runs; the most private until one is chosen."""
    first = names.most_private(specs)
    return widgets.menu("Run", "curve", range(len(specs)), names.titles(specs), otherwise=first)


def look_closely() -> Close | None:
    """Menus for run, repetition and size; None with the reason said. What comes with the program has curves only, so
    that its run is asked for here."""
    specs = offline().specs
    left, right = st.columns([3, 2], wrap=False)
    with left:
        chosen = chosen_spec(specs)
    spec = specs[chosen]
    with right:
        seeds = range(spec.seeds)
        seed = widgets.menu("Repetition", "seed", seeds, [f"seed {i}" for i in seeds])
    trace: OfflineTrace | None = data.trace(spec, seed)
    if trace is None or not len(trace.detail_n):
        absent(spec)
        return None
    n = [int(size) for size in trace.detail_n]
    words = [count(each) for each in n]
    size = widgets.steps("How many trajectories the data set has", "n", n, words, otherwise=telling(trace))
    return Close(spec, names.titles(specs)[chosen], trace, n.index(size))


def telling(trace: OfflineTrace) -> int:
    """The size at which there is most to see: the largest that is not enough yet, or the largest."""
    short = trace.curve.at[trace.curve.values > CLOSE * trace.v_star]
    return int(short[-1] if len(short) else trace.detail_n[-1])


def absent(spec: OfflineSpec) -> None:
    """Asks for a run nobody has asked for yet, and says how it stands."""
    run = data.status(spec, owner_id("offline"))
    if run.state in ACTIVE:
        empty("Its data sets and policies appear when this repetition is finished.")
    elif run.state in ("unknown", "done"):
        if begin([spec], owner_id("offline")):
            st.rerun()
        empty(f"This repetition was not computed: {price([spec])}.")
        act("Run it", "play_arrow", lambda: ask([spec], owner_id("offline"), again=True), "close_look")
    else:
        empty("This repetition was not computed.")
        act("Run it", "play_arrow", lambda: ask([spec], owner_id("offline"), again=True), "close_look")


def step_menu(H: int) -> int | None:
    """One step of the episode, or None for all."""
    steps = [-1, *range(H)]
    with st.container(width=150):
        words = ["every step", *(f"step {h}" for h in range(H))]
        chosen = widgets.menu("Step of the episode", "h", steps, words, visible=False)
    return None if chosen < 0 else chosen
