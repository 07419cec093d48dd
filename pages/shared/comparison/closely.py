"""A close look at one seed of a run that is compared: which run, which seed, which moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

from dprl.words import count
from pages.shared.comparison.record import ComparisonPage
from pages.shared.layout.chart import empty
from pages.shared.results import data
from pages.shared.results.status import ACTIVE, act, price
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import ask, begin

SpecT = TypeVar("SpecT")
TraceT = TypeVar("TraceT")


@dataclass(frozen=True)
class TraceSelection(Generic[SpecT, TraceT]):
    """What is looked at: one run's trace, and a moment. at: the place of the moment among those with details."""

    spec: SpecT
    title: str
    trace: TraceT
    at: int
    moment: int

    @property
    def key(self) -> tuple[str, int, int]:
        """Names it."""
        spec: Any = self.spec
        trace: Any = self.trace
        return spec.to_json(), trace.seed, self.moment


SelectionT = TypeVar("SelectionT", bound=TraceSelection[Any, Any])


@dataclass(frozen=True, kw_only=True)
class CloseLook(Generic[SelectionT]):
    """How a page looks closely at its runs.

    Attributes:
        page: whose runs.
        selection: what is made of what was chosen.
        seed: what one of the repetitions is called.
        details: what there is to see when it is finished, in words.
        field, question: of the view, the moment, and the label of its slider.
        moments(trace): those with details.
        telling(trace): that with most to see.
        nothing(trace): why there is nothing to see, "" where there is.
    """

    page: ComparisonPage[Any]
    selection: type[SelectionT]
    seed: str
    details: str
    field: str
    question: str
    moments: Callable[[Any], Sequence[int]]
    telling: Callable[[Any], int]
    nothing: Callable[[Any], str] = lambda trace: ""

    def choose(self) -> SelectionT | None:
        """Menus for run, seed and moment; None with the reason said. What comes with the program has curves only, so
        that its run is asked for here."""
        page = self.page
        left, right = st.columns([3, 2], wrap=False)
        with left:
            chosen = chosen_spec(page)
        spec = page.state.specs[chosen]
        with right:
            seeds = range(spec.seeds)
            seed = page.widgets.menu(self.seed.capitalize(), "seed", seeds, [f"seed {i}" for i in seeds])
        trace = data.trace(spec, seed)
        if trace is None or not len(self.moments(trace)):
            self.absent(spec)
            return None
        if said := self.nothing(trace):
            empty(said)
            return None
        moments = [int(moment) for moment in self.moments(trace)]
        words = [count(moment) for moment in moments]
        moment = page.widgets.steps(self.question, self.field, moments, words, otherwise=self.telling(trace))
        title = page.titles(page.state.specs)[chosen]
        return self.selection(spec, title, trace, moments.index(moment), moment)

    def absent(self, spec: Any) -> None:
        """Asks for a run nobody has asked for yet, and says how it stands."""
        owner = owner_id(self.page.path)
        run = data.status(spec, owner)
        if run.state in ACTIVE:
            empty(f"Its {self.details} appear when this {self.seed} is finished.")
            return
        cost = ""
        if run.state in ("unknown", "done"):
            if begin([spec], owner):
                st.rerun()
            cost = f": {price([spec])}"
        empty(f"This {self.seed} was not computed{cost}.")
        act("Run it", "play_arrow", lambda: ask([spec], owner, again=True), "close_look")


def chosen_spec(page: ComparisonPage[Any]) -> int:
    """A menu of the runs; the most private until one is chosen."""
    specs = page.state.specs
    return page.widgets.menu(
        "Run", "curve", range(len(specs)), page.titles(specs), otherwise=page.most_private(specs)
    )
