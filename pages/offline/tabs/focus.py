"""A close look at what was learned from one data set: shared by the tabs Pessimism and Policy."""

from __future__ import annotations

import streamlit as st

from dprl.sentences.offline import CLOSE
from dprl.simulation import OfflineSpec, OfflineTrace
from pages.offline.record import OFFLINE
from pages.shared.comparison.closely import CloseLook, TraceSelection


class DataSetSelection(TraceSelection[OfflineSpec, OfflineTrace]):
    """What is looked at: one run's trace, and a data set among those with details."""

    @property
    def n(self) -> int:
        """The size of the data set."""
        return self.moment

    @property
    def gap(self) -> float:
        """Of the policy learned from it."""
        return float(self.trace.curve.values[list(self.trace.curve.at).index(self.n)])


def telling(trace: OfflineTrace) -> int:
    """The size at which there is most to see: the largest that is not enough yet, or the largest."""
    short = trace.curve.at[trace.curve.values > CLOSE * trace.v_star]
    return int(short[-1] if len(short) else trace.detail_n[-1])


DATA_SETS = CloseLook(
    page=OFFLINE,
    selection=DataSetSelection,
    seed="data set",
    details="counts and policies",
    field="n",
    question="Trajectories in the data set",
    moments=lambda trace: trace.detail_n,
    telling=telling,
)


def step_menu(H: int) -> int | None:
    """One step of the episode, or None for all."""
    steps = [-1, *range(H)]
    with st.container(width=150):
        words = ["every step", *(f"step {h}" for h in range(H))]
        chosen = OFFLINE.widgets.menu("Step of the episode", "h", steps, words, visible=False)
    return None if chosen < 0 else chosen
