""" "When is privacy free?": what a visitor's session holds of it, where its runs come from, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dprl import metrics
from dprl.figures.lines import Series
from dprl.jobs.store import RunStatus
from dprl.metrics import Growth
from dprl.privacy import PRIVATIZERS
from dprl.simulation import RunSpec
from pages.explore.regret import note
from pages.free import explored
from pages.free import link as free_link
from pages.free.link import BASE, FreeView
from pages.shared.names import kind_of
from pages.shared.results import answers, data
from pages.shared.results.bundled import bundled
from pages.shared.visitor.address import Query
from pages.shared.visitor.draft import Draft, draft_of
from pages.shared.visitor.links import Curve
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import PageState, ask, begin, session, write_address

FIRST = 1000  # episodes from which on curves are drawn
MEASURED_BYTES = 8 * 2**20  # kept, for all visitors together


@dataclass
class Free(PageState):
    """What is shown: the run with a trusted agent, from which the others follow; the view."""

    base: RunSpec = BASE
    view: FreeView = field(default_factory=FreeView)

    @property
    def first_draft(self) -> Draft:
        """That of the run with a trusted agent."""
        return draft_of(self.base)

    @property
    def link(self) -> list[tuple[str, str]]:
        """The query parameters of the link to what is seen."""
        return free_link.encode(self.base, self.view)

    def follow(self, given: Query) -> None:
        """Takes over a link, and starts what it names."""
        s = session()
        link = free_link.decode(given, s.files)
        self.base, self.view, self.problems = link.base, link.view, link.problems
        s.draft = draft_of(link.base)
        s.version += 1
        begin(lacking(), asking())


def free() -> Free:
    """This visitor's part of the page."""
    return session().part(Free)


def change(**view: Any) -> None:
    """Changes the view, and the address with it."""
    f = free()
    f.view = replace(f.view, **view)
    write_address(free())


def show_runs(base: RunSpec) -> None:
    """Shows other runs, starts those that are missing, and puts their problem into the calculator."""
    f, s = free(), session()
    if free_link.calculator(base) != free_link.calculator(f.base):
        f.view = replace(f.view, **free_link.within(free_link.calculator(base)))
    f.base = base
    s.draft = draft_of(base)
    s.version += 1
    start()
    write_address(free())


def start() -> None:
    """Asks for the runs that are shown and do not come with the program."""
    ask(lacking(), asking())


def asking() -> str:
    """In whose name the runs that are shown are asked for."""
    return owner_id("exploration") if free().view.show == explored.SHOW else session().visitor


def lacking() -> list[RunSpec]:
    """The runs that are shown and do not come with the program."""
    if free().view.show == explored.SHOW:
        return explored.offered(free().base)
    specs = [curve.spec for curve in free_link.compared(free().base)[0]]
    return [spec for spec in specs if spec not in bundled("free")]


def status(spec: RunSpec) -> RunStatus:
    """How a run stands; those that come with the program are done."""
    if spec in bundled("free"):
        return RunStatus(state="done", seeds=spec.seeds, seeds_done=spec.seeds, progress=1.0)
    return data.status(spec, session().visitor)


def known(spec: RunSpec) -> data.Regret:
    """The regret of a run as far as it is known."""
    return bundled("free").get(spec) or data.regret(spec)


@dataclass(frozen=True)
class Measured:
    """One of the runs, from FIRST episodes on.

    Attributes:
        episodes: [C].
        regret, price: [seeds, C]; price is what it lost beyond its non-private twin, nothing without privacy
            or while the twin is missing.
        decades: how the price grew.
        flat: the number of episodes from which it is flat.
        complete: the run and its twin are finished.
        v_star: the value of an optimal episode, where it is known.
        token: changes when any of this does.
    """

    curve: Curve
    episodes: NDArray[np.int64]
    regret: NDArray[np.float64]
    price: NDArray[np.float64] | None
    decades: tuple[Growth, ...]
    flat: float | None
    stopped_short: int
    complete: bool
    note: str
    v_star: float | None
    token: str

    @property
    def model(self) -> str:
        """Its privacy model."""
        return self.curve.spec.privacy

    @property
    def label(self) -> str:
        """Who is trusted."""
        return PRIVATIZERS[self.model].title

    def drawn(self, view: str) -> Series:
        """The curve as figures want it. view: regret or price."""
        rows = self.regret if view == "regret" else self.price
        assert rows is not None
        averaged = rows[np.isfinite(rows[:, -1])] if rows.size else rows
        mean, low, high = metrics.regret_band(averaged if len(averaged) else rows)
        return Series(
            label=self.label,
            style=kind_of(self.curve.spec),
            x=self.episodes,
            rows=rows,
            center=mean,
            low=low,
            high=high,
            complete=self.complete,
            note=self.note,
            v_star=self.v_star,
            median=metrics.median_band(rows)[0],
        )


def measured(curves: Sequence[Curve], runs: Sequence[RunStatus]) -> list[Measured]:
    """What is known of each run, those of which nothing is known left out."""
    found = []
    twin = known(curves[0].spec) if curves and curves[0].spec.privacy == "none" else None
    for curve, run in zip(curves, runs, strict=True):
        own = known(curve.spec)
        if len(own.episodes):
            private = curve.spec.privacy != "none"
            other = twin if private else None
            complete = run.state == "done" and (other is None or runs[0].state == "done")
            best = answers.v_star(curve.spec)
            token = f"{own.token}:{other.token if other else ''}:{run.state}:{run.seeds_done}:{best}"
            token = f"{curve.spec.to_json()}:{token}"
            found.append(_measured(token, complete, note(run), best, curve, own, other))
    return found


@st.cache_resource(show_spinner=False)
def _kept() -> data.Kept[Measured]:
    return data.Kept(MEASURED_BYTES)


def _measured(
    token: str,
    complete: bool,
    note: str,
    v_star: float | None,
    curve: Curve,
    own: data.Regret,
    twin: data.Regret | None,
) -> Measured:
    key = token, complete, note, v_star
    if (kept := _kept().get(key)) is not None:
        return kept[1]
    price, decades, flat = None, [], None
    from_here = own.episodes >= FIRST
    stopped_short = metrics.unsettled(own.episodes, own.rows) if complete else 0
    if twin is not None and len(twin.episodes):
        _, price = metrics.extra_regret(own.episodes, own.rows, twin.episodes, twin.rows)
        if complete:
            decades = metrics.growth_by_decade(own.episodes, price, FIRST)
            flat = metrics.flat_from(decades)
        price = price[:, from_here]
    found = Measured(
        curve,
        own.episodes[from_here],
        own.rows[:, from_here],
        price,
        tuple(decades),
        flat,
        stopped_short,
        complete,
        note,
        v_star,
        token,
    )
    return _kept().put(key, None, found, data.bytes_of(found))
