""" "When is privacy free?": what a visitor's session holds of it, where its runs come from, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dprl import metrics
from dprl.figures.lines import Series
from dprl.metrics import Growth
from dprl.metrics.curves import RunCurves
from dprl.privacy import PRIVATIZERS
from dprl.runs.status import RunStatus
from dprl.simulation import RunSpec
from pages.free import link as free_link
from pages.free.link import BASE, FreeView
from pages.shared.names import style_of
from pages.shared.online.regret import note
from pages.shared.results import answers, data
from pages.shared.results.bundled import bundled
from pages.shared.results.cache import SizedCache, bytes_of, cache_of
from pages.shared.visitor.address import Query
from pages.shared.visitor.draft import Draft, draft_of
from pages.shared.visitor.links import Curve
from pages.shared.visitor.state import ViewedState, ask, begin, session, write_address

FIRST = 1000  # episodes from which on curves are drawn
PRICED_BYTES = 8 * 2**20  # kept, for all visitors together


@dataclass(kw_only=True)
class Free(ViewedState[FreeView]):
    """What is shown: the run with a trusted curator, from which the others follow; the view."""

    base: RunSpec = BASE
    view: FreeView = field(default_factory=FreeView)

    @property
    def first_draft(self) -> Draft:
        """That of the run with a trusted curator."""
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
        begin(lacking_runs(), s.visitor)


def free() -> Free:
    """This visitor's part of the page."""
    return session().part(Free)


def show_runs(base: RunSpec) -> None:
    """Shows other runs, starts those that are missing, and puts their problem into the calculator."""
    f, s = free(), session()
    if free_link.calculator(base) != free_link.calculator(f.base):
        f.view = replace(f.view, **free_link.within(free_link.calculator(base)))
    f.base = base
    s.draft = draft_of(base)
    s.version += 1
    start_runs()
    write_address(free())


def start_runs() -> None:
    """Asks for the runs that are shown and do not come with the program."""
    ask(lacking_runs(), session().visitor)


def lacking_runs() -> list[RunSpec]:
    """The runs that are shown and do not come with the program."""
    specs = [curve.spec for curve in free_link.four_models(free().base)[0]]
    return [spec for spec in specs if spec not in bundled("free")]


def run_status(spec: RunSpec) -> RunStatus:
    """How a run stands; those that come with the program are done."""
    if spec in bundled("free"):
        return RunStatus(state="done", seeds=spec.seeds, seeds_done=spec.seeds, progress=1.0)
    return data.status(spec, session().visitor)


def known(spec: RunSpec) -> RunCurves:
    """The regret of a run as far as it is known."""
    return bundled("free").get(spec) or data.curves(spec)


@dataclass(frozen=True)
class PricedRun:
    """One of the runs, from FIRST episodes on.

    Attributes:
        regret: its curves; their token changes when anything of this does.
        price: what it lost beyond its non-private baseline, nothing without privacy or while the baseline is missing.
        decades: how the price grew.
        flat: the number of episodes from which it is flat.
        stopped_short: of how many seeds regret has not settled at the end.
        complete: the run and its baseline are finished.
    """

    curve: Curve
    regret: RunCurves
    price: RunCurves | None
    decades: tuple[Growth, ...]
    flat: float | None
    stopped_short: int
    complete: bool
    note: str

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
        run = self.regret if view == "regret" else self.price
        assert run is not None
        rows = run.values
        averaged = rows[np.isfinite(run.ends)] if rows.size else rows
        mean, low, high = metrics.regret_band(averaged if len(averaged) else rows)
        return Series(
            label=self.label,
            style=style_of(self.curve.spec),
            x=run.at,
            rows=rows,
            center=mean,
            low=low,
            high=high,
            complete=self.complete,
            note=self.note,
            v_star=answers.v_star(self.curve.spec),
            median=metrics.median_band(rows)[0],
        )


def priced(curves: Sequence[Curve], runs: Sequence[RunStatus]) -> list[PricedRun]:
    """What is known of each run, those of which nothing is known left out."""
    found = []
    baseline = known(curves[0].spec) if curves and curves[0].spec.privacy == "none" else None
    for curve, run in zip(curves, runs, strict=True):
        own = known(curve.spec)
        if len(own.at):
            private = curve.spec.privacy != "none"
            other = baseline if private else None
            complete = run.state == "done" and (other is None or runs[0].state == "done")
            best = answers.v_star(curve.spec)
            token = f"{own.token}:{other.token if other else ''}:{run.state}:{run.seeds_done}:{best}"
            own = replace(own, token=f"{curve.spec.to_json()}:{token}")
            found.append(_priced(curve, own, other, complete, note(run)))
    return found


def _priced(curve: Curve, own: RunCurves, baseline: RunCurves | None, complete: bool, note: str) -> PricedRun:
    def load(_: str | None) -> PricedRun:
        price, decades, flat = None, [], None
        if baseline is not None and len(baseline.at):
            price = replace(own, values=own.beyond(baseline))
            if complete:
                decades = metrics.growth_by_decade(price.at, price.values, FIRST)
                flat = metrics.flat_from(decades)
        return PricedRun(
            curve,
            own.since(FIRST),
            None if price is None else price.since(FIRST),
            tuple(decades),
            flat,
            metrics.unsettled(own.at, own.values) if complete else 0,
            complete,
            note,
        )

    kept: SizedCache[PricedRun] = cache_of("priced", PRICED_BYTES)
    return kept.cached(
        (own.token, complete, note),
        load,
        lambda found: bytes_of(*filter(None, (found.regret, found.price))),
    )
