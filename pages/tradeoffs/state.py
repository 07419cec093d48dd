"""Trade-offs: its part of a visitor's session, and its access to the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dprl import metrics
from dprl.figures.looks import CurveStyle
from dprl.figures.tradeoff import Frontier
from dprl.metrics import search
from dprl.research.frontiers import (
    all_to_lose,
    band_of,
    frontier_of,
    look_of,
    looks_of,
    proved_exponent,
)
from dprl.simulation import RunSpec, Spec
from dprl.simulation.axes import PrivacyChoice
from dprl.words import listed, quoted
from pages.shared.layout.terms import escape
from pages.shared.results import answers
from pages.shared.results.status import Progress, Runs
from pages.shared.visitor.address import Query
from pages.shared.visitor.draft import Draft, draft_of
from pages.shared.visitor.links import values_text
from pages.shared.visitor.state import PageState, session, write_address
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import SweepView

RUNS = Runs(("tradeoffs",), "sweep", by_ends=True)  # some results are bundled as end values only
ends, missing = RUNS.ends, RUNS.missing


@dataclass
class SweepPageState(PageState):
    """The page's state for one visitor."""

    study: SweepView = studies.DEFAULT  # the study that is shown
    models: list[str] = field(default_factory=lambda: list(studies.DEFAULT.models))  # chosen in the controls
    x: str = studies.DEFAULT.x
    values: dict[str, str] = field(default_factory=dict)  # as text, for each axis
    asked: bool = False  # whether the study's runs were requested
    linked: bool = False  # whether a link requested them
    picked: tuple[str, int] | None = None  # model and index of the clicked point

    @property
    def first_draft(self) -> Draft:
        """Return the draft of the study's constant settings."""
        return draft_of(self.study.base)

    @property
    def link(self) -> list[tuple[str, str]]:
        return studies.encode(self.study)

    def follow(self, given: Query) -> None:
        """Apply a link and start its study."""
        study, problems = studies.decode(given, session().files)
        self.problems = tuple(problems)
        show_study(study)
        self.linked = True
        self.asked = study.show == "users" or RUNS.begin(study.sweep.specs)


trade = SweepPageState.mine


def show_study(study: SweepView) -> None:
    """Show a study, and set the controls to its values."""
    t = trade()
    t.study, t.picked, t.asked = study, None, False
    set_controls(study)


def set_controls(study: SweepView) -> None:
    """Set the controls to the values of a study."""
    t, s = trade(), session()
    t.models, t.x = list(study.models), study.x
    t.values[study.x] = values_text(study.values)
    s.draft = draft_of(study.base)
    s.version += 1


def change_sweep_view(**changes: Any) -> None:
    """Change the view of the study."""
    t = trade()
    t.study = replace(t.study, **changes)
    write_address(t)


def start_sweep() -> None:
    """Request the missing runs of the study."""
    t = trade()
    t.asked, t.linked = True, False
    if t.study.show != "users":
        RUNS.start(t.study.sweep.specs)


def go_on(specs: Sequence[RunSpec]) -> None:
    """Request the next runs of a search; a search that a link started stops if it would cost too much."""
    t = trade()
    new = RUNS.progress(specs).of("unknown")
    if new and t.linked:
        t.asked = RUNS.begin(new)
    elif new:
        RUNS.start(new)


def strip(now: Progress) -> None:
    """Draw the joint status of the runs."""
    RUNS.strip(now, start_sweep, stop_asking)


def stop_asking() -> None:
    """Stop requesting runs, also for a search."""
    trade().asked = False


def cancel_sweep(specs: Sequence[Spec]) -> None:
    """Withdraw from all runs at once; finished results stay."""
    stop_asking()
    RUNS.withdraw(specs)


def kinds_of(study: SweepView) -> dict[str, CurveStyle]:
    """Return the style of each model's line. If the budget is the axis, only the markers show its shades. Lines of the
    same colour (mechanisms of one model) have different dashes."""
    models = [model for model in study.models if study.points(model)]
    found = [look_of(study.points(model)[0][1]) for model in models]
    return dict(zip(models, looks_of(found, shaded=study.x != "epsilon"), strict=True))


def drawn_models(study: SweepView) -> list[str]:
    """Return the models with a curve: those that can be run, without "none" if the privacy cost is drawn."""
    priced = study.show == "price"
    return [model for model in study.models if study.points(model) and not (priced and model == "none")]


def way_titles(ways: Sequence[str]) -> list[str]:
    """Return the title of each model of `users_search`, with its mechanism."""
    return [text[0].upper() + text[1:] for text in (PrivacyChoice.parse(way).title for way in ways)]


def frontiers(study: SweepView) -> list[Frontier]:
    """Return a curve for each of `drawn_models`, from the finished seeds."""
    curves, looks = [], kinds_of(study)
    for model in drawn_models(study):
        x, runs = zip(*study.points(model), strict=True)
        rows = np.array([values(study, spec) for spec in runs]).reshape(len(runs), -1).T
        lost = np.array([band_of(ends(spec), study.statistic)[0] for spec in runs])
        worst = np.array([worst_of(spec) for spec in runs])
        if study.show == "share":
            most = np.where(worst > 0, worst, np.nan)
            rows, lost, worst = rows / most, lost / most, np.ones(len(runs))
        curves.append(
            frontier_of(
                study.titles[model],
                looks[model],
                runs,
                x,
                rows,
                lost,
                worst,
                proved=proved_exponent(runs[0], study.x, price=study.show == "price"),
                statistic=study.statistic,
            )
        )
    return curves


def worst_of(spec: RunSpec) -> float:
    """Return the largest possible loss of a run; NaN while V* is unknown."""
    v_star = answers.v_star(spec)
    return np.nan if v_star is None else all_to_lose(spec, v_star)


def price(spec: RunSpec) -> NDArray[np.float64]:
    """Return a run's privacy cost, [seeds]: its regret minus that of the same seed without privacy."""
    return ends(spec) - ends(spec.baseline())


def values(study: SweepView, spec: RunSpec) -> NDArray[np.float64]:
    """Return the privacy cost or the regret of a run, [seeds]."""
    return price(spec) if study.show == "price" else ends(spec)


def growth(study: SweepView) -> dict[str, list[metrics.Growth]]:
    """Return the growth of each private model's privacy cost between numbers of users, by title. The result is empty
    unless users are the axis; unfinished models are left out."""
    if study.x != "episodes":
        return {}
    found = {}
    for model in study.models:
        points = study.points(model)
        if model == "none" or len(points) < 2 or missing([spec for _, spec in points]):
            continue
        x, rows = np.array([k for k, _ in points], float), np.array([price(spec) for _, spec in points]).T
        found[study.titles[model]] = metrics.growth_between(x, rows)
    return found


SENTENCE = 3  # names in one sentence


def refusals(study: SweepView) -> list[str]:
    """List what is left out of the chart, with a sentence in Markdown for each reason."""
    ways = dict(zip(study.ways, way_titles(study.ways), strict=True))
    named = ways if study.show == "users" else study.titles
    sentences = []
    for reason, lines in study.refusals.items():
        if len(lines) == len(named):
            sentences.append(f"Left out: {escape(reason)}")
            continue
        names = [quoted(named[line]) for line in lines]
        for i in range(0, len(names), SENTENCE):
            sentences.append(f"Left out of {listed(names[i : i + SENTENCE])}: {escape(reason)}")
    return sentences


def users_search(study: SweepView, way: str, target: float) -> search.UsersFound:
    """Return the search for the users needed under one kind of privacy, as far as finished runs allow."""
    runs = study.searches[way]

    def price_at(episodes: int) -> NDArray[np.float64] | None:
        each = price(runs[episodes]) / episodes
        return each if np.isfinite(each).all() else None

    return search.search_users(
        price_at, target, tuple(runs), study.base.episodes, search.bootstrap(study.base.seeds)
    )


def pending(study: SweepView, way: str, found: search.UsersFound) -> list[RunSpec]:
    """Return the runs that the search needs next."""
    if found.pending is None:
        return []
    spec = study.searches[way][found.pending]
    return missing([spec, spec.baseline()])


def target(study: SweepView) -> float:
    """Return the privacy cost per episode that the share of V* allows; NaN while V* is unknown."""
    v_star = answers.v_star(study.base)
    return np.nan if v_star is None else study.share / 100 * v_star


def wanted(study: SweepView) -> list[RunSpec]:
    """Return the runs that the visible chart needs now."""
    if study.show != "users":
        return list(study.sweep.specs)
    found: dict[RunSpec, None] = {}
    for way in study.searches if target(study) > 0 else ():
        users = users_search(study, way, target(study))
        found |= dict.fromkeys(pending(study, way, users))
    return list(found)
