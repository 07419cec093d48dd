"""Which run, seed and moment a close look is at: shared by the tabs that show what a learner holds possible."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import streamlit as st

from dprl import metrics
from dprl.metrics import Array
from dprl.simulation import RunSpec, SeedTrace
from dprl.words import count
from pages.linear.link import FIELDS
from pages.linear.state import linear
from pages.shared.controls.view import Widgets
from pages.shared.layout.chart import empty
from pages.shared.names import titles
from pages.shared.results import data
from pages.shared.results.status import ACTIVE, act, price
from pages.shared.visitor.links import most_private
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import ask, begin

widgets = Widgets(linear, FIELDS)


class Close(NamedTuple):
    """What is looked at: one run's trace, and the place of a moment among those with details."""

    spec: RunSpec
    title: str
    trace: SeedTrace
    at: int

    @property
    def users(self) -> int:
        """How many there were."""
        return int(self.trace.detail_episodes[self.at])

    @property
    def private(self) -> bool:
        """Whether there is noise."""
        return self.spec.privacy != "none"

    @property
    def sums(self) -> Array:
        """[D, steps, families, d, d + 1] without noise."""
        return self.trace.series["sums"]

    @property
    def d(self) -> int:
        """Weights at a step."""
        return int(self.trace.beliefs["truth"].shape[-1])

    @property
    def steps(self) -> int:
        """Steps at which something is regressed."""
        return int(self.trace.beliefs["truth"].shape[1])

    @property
    def bound(self) -> float:
        """C_w, as everybody knows it."""
        return float(self.trace.beliefs["bound"][0])

    @property
    def key(self) -> tuple[str, int, int]:
        """Names it."""
        return self.spec.to_json(), self.trace.seed, self.users

    def region(self, h: int, noisy: bool) -> metrics.Region:
        """Where the weights of a step are held possible, with noise or as the same users would show without."""
        matrices, prefix = (self.trace.noisy, "") if noisy else (self.sums, "noiseless ")
        return metrics.region(self.trace.beliefs, matrices, self.at, h, prefix)


def chosen_spec() -> int:
    """A menu of the runs; the most private until one is chosen."""
    part = linear()
    first = most_private(part.curves)
    return widgets.menu("Run", "curve", range(len(part.specs)), titles(part.curves), otherwise=first)


def look_closely() -> Close | None:
    """Menus for run, seed and moment; None with the reason said. What comes with the program has curves only, so that
    its run is asked for here."""
    part = linear()
    left, right = st.columns([3, 2], wrap=False)
    with left:
        chosen = chosen_spec()
    spec = part.specs[chosen]
    with right:
        seeds = range(spec.seeds)
        seed = widgets.menu("Seed", "seed", seeds, [f"seed {i}" for i in seeds])
    trace: SeedTrace | None = data.trace(spec, seed)
    if trace is None or not len(trace.detail_episodes):
        absent(spec)
        return None
    if not trace.beliefs:
        empty("This learner does not say where it holds the weights possible.")
        return None
    users = [int(k) for k in trace.detail_episodes]
    words = [count(k) for k in users]
    looked = widgets.steps("After how many users", "episode", users, words, otherwise=telling(trace))
    return Close(spec, titles(part.curves)[chosen], trace, users.index(looked))


def telling(trace: SeedTrace) -> int:
    """The moment at which there is most to see: when regret per episode has just come below a tenth of V*."""
    average = trace.regret / trace.episodes
    low = np.flatnonzero(average < 0.1 * trace.v_star)
    wanted = trace.episodes[low[0]] if len(low) else trace.episodes[-1]
    return int(trace.detail_episodes[np.abs(trace.detail_episodes - wanted).argmin()])


def absent(spec: RunSpec) -> None:
    """Asks for a run nobody has asked for yet, and says how it stands."""
    run = data.status(spec, owner_id("linear"))
    if run.state in ACTIVE:
        empty("Its sums and estimates appear when this seed is finished.")
    elif run.state in ("unknown", "done"):
        if begin([spec], owner_id("linear")):
            st.rerun()
        empty(f"This seed was not computed: {price([spec])}.")
        act("Run it", "play_arrow", lambda: ask([spec], owner_id("linear"), again=True), "close_look")
    else:
        empty("This seed was not computed.")
        act("Run it", "play_arrow", lambda: ask([spec], owner_id("linear"), again=True), "close_look")


def step_of(found: Close) -> int:
    """A slider over the steps at which something is regressed."""
    steps = range(found.steps)
    return widgets.steps("Step h of the episode", "h", steps, [str(h) for h in steps])
