"""A close look at one run, one repetition, and what was learned from one of its data sets."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from dprl.sentences.offline import CLOSE
from dprl.simulation import OfflineSpec, OfflineTrace
from dprl.words import count
from pages.offline.record import WIDGETS, offline
from pages.shared.layout.chart import empty
from pages.shared.offline import names
from pages.shared.results import data
from pages.shared.results.status import ACTIVE, act, price
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import ask, begin


class DataSetSelection(NamedTuple):
    """The focus: one run's trace, and a data set among those with details. at: its place; n: its size."""

    spec: OfflineSpec
    title: str
    trace: OfflineTrace
    at: int
    n: int

    @property
    def key(self) -> tuple[str, int, int]:
        """Name it."""
        return self.spec.to_json(), self.trace.seed, self.n

    @property
    def gap(self) -> float:
        """Describe the policy learned from it."""
        return float(self.trace.curve.values[list(self.trace.curve.at).index(self.n)])


def chosen_spec() -> int:
    """Draw a menu of the runs; return the place of the one chosen, by default of the most private."""
    specs = offline().specs
    return WIDGETS.menu(
        "Run", "curve", range(len(specs)), names.titles(specs), otherwise=names.most_private(specs)
    )


def choose_data_set() -> DataSetSelection | None:
    """Draw menus for run, repetition and size; return None with the reason if there is nothing to see. The run that
    comes with the program has curves only, so that its details are requested here."""
    left, right = st.columns([3, 2], wrap=False)
    with left:
        chosen = chosen_spec()
    spec = offline().specs[chosen]
    with right:
        seeds = range(spec.seeds)
        seed = WIDGETS.menu("Data set", "seed", seeds, [f"seed {i}" for i in seeds])
    trace = data.trace(spec, seed)
    if trace is None or not len(trace.detail_n):
        absent(spec)
        return None
    sizes = [int(n) for n in trace.detail_n]
    words = [count(n) for n in sizes]
    n = WIDGETS.steps("Trajectories in the data set", "n", sizes, words, otherwise=telling(trace))
    return DataSetSelection(spec, names.titles(offline().specs)[chosen], trace, sizes.index(n), n)


def absent(spec: OfflineSpec) -> None:
    """Ask for a run nobody has asked for yet, and say how it stands."""
    owner = owner_id("offline")
    run = data.status(spec, owner)
    if run.state in ACTIVE:
        empty("Its counts and policies appear when this data set is finished.")
        return
    cost = ""
    if run.state in ("unknown", "done"):
        if begin([spec], owner):
            st.rerun()
        cost = f": {price([spec])}"
    empty(f"This data set was not computed{cost}.")
    act("Run it", "play_arrow", lambda: ask([spec], owner, again=True), "close_look")


def telling(trace: OfflineTrace) -> int:
    """Return the size at which there is most to see: the largest that is not enough yet, or the largest."""
    short = trace.curve.at[trace.curve.values > CLOSE * trace.v_star]
    return int(short[-1] if len(short) else trace.detail_n[-1])


def step_menu(H: int) -> int | None:
    """Return one step of the episode, or None for all."""
    steps = [-1, *range(H)]
    with st.container(width=150):
        words = ["every step", *(f"step {h}" for h in range(H))]
        chosen = WIDGETS.menu("Step of the episode", "h", steps, words, visible=False)
    return None if chosen < 0 else chosen
