"""What a visitor's session holds of the page Trade-offs, and what it reads from the store."""

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
from dprl.metrics.curves import RunCurves
from dprl.research.frontiers import (
    SYMBOLS,
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
from pages.shared.offline.settings import OfflineSettings
from pages.shared.results import answers, data, together
from pages.shared.results.runs import Runs
from pages.shared.results.together import Progress
from pages.shared.text import escape
from pages.shared.values import values_text
from pages.shared.visitor.address import Query
from pages.shared.visitor.draft import Draft
from pages.shared.visitor.owners import owner_id
from pages.shared.visitor.state import PageState, ask, begin, session, write_address
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import SweepView

ENDS = Runs(("tradeoffs",), "sweep")  # of the runs that are shown first the ends alone come with the program
CURVES = Runs(("home",), "sweep")


@dataclass
class SweepPageState(PageState):
    """What a visitor has on the page.

    Attributes:
        study: what is shown.
        kind, models, x, values: what the controls say, the values as text for each axis.
        among: the same for each second axis; settings: of runs on data sets, who the data come from and their budget.
        asked: the study's runs were asked for; linked: by the link that was read.
        picked: line and value of the point that was pressed.
    """

    study: SweepView = studies.DEFAULT
    kind: str = RunSpec.kind
    models: list[str] = field(default_factory=lambda: list(studies.DEFAULT.models))
    x: str = studies.DEFAULT.x
    values: dict[str, str] = field(default_factory=dict)
    among: dict[str, str] = field(default_factory=dict)
    settings: OfflineSettings = field(default_factory=OfflineSettings)
    asked: bool = False
    linked: bool = False
    picked: tuple[str, int] | None = None

    @property
    def first_draft(self) -> Draft:
        """That of what the study does not change."""
        return self.study.subject.draft(self.study.base)

    @property
    def link(self) -> list[tuple[str, str]]:
        """The query parameters of the link to what is seen."""
        return studies.encode(self.study)

    def follow(self, given: Query) -> None:
        """Takes over a link, and starts what it names."""
        study, problems = studies.decode(given, session().files)
        self.problems = tuple(problems)
        show_study(study)
        self.linked = True
        self.asked = study.show == "users" or begin(missing(study.sweep.specs), owner_id("sweep"))


def trade() -> SweepPageState:
    """This visitor's study."""
    return session().part(SweepPageState)


def show_study(study: SweepView) -> None:
    """Makes a study the one that is shown, and the controls those that give it."""
    t = trade()
    t.study, t.picked, t.asked = study, None, False
    set_controls(study)


def set_controls(study: SweepView) -> None:
    """Makes the controls those that give a study."""
    t, s = trade(), session()
    t.models, t.x = list(study.models), study.x
    t.values[study.x] = values_text(study.values)
    t.kind = study.base.kind
    if study.among:
        t.among[study.subject.second(study.base, study.x)] = values_text(study.among)
    s.draft = study.subject.draft(study.base)
    t.settings = study.subject.settings(study.base, study.models)
    s.version += 1


def change_sweep_view(**changes: Any) -> None:
    """Changes how the study is looked at."""
    t = trade()
    t.study = replace(t.study, **changes)
    write_address(t)


def ends(spec: Any) -> NDArray[np.float64]:
    """[seeds] regret at the end of a run, NaN where it is not known."""
    return ENDS.ends(spec)


def run_curves(spec: Any) -> RunCurves:
    """The curve of a run as far as it is known."""
    return CURVES.curves(spec)


def reached(spec: Any, k: int | None) -> NDArray[np.float64]:
    """[seeds] regret after k of its episodes, one of its checkpoints; at the end where None."""
    if k is None:
        return ends(spec)
    return run_curves(spec).upto(k)


def missing(specs: Sequence[Any]) -> list[Any]:
    """The runs that are not finished."""
    return ENDS.unfinished(specs)


def start_sweep() -> None:
    """Asks for the runs of the study that are missing."""
    t = trade()
    t.asked, t.linked = True, False
    if t.study.show != "users":
        ask(missing(t.study.sweep.specs), owner_id("sweep"))


def go_on(specs: Sequence[Spec]) -> None:
    """Asks for what a search needs now. One that a link began ends where it would cost too much."""
    t = trade()
    new = [spec for spec in specs if data.status(spec, owner_id("sweep")).state == "unknown"]
    if new and t.linked:
        t.asked = begin(new, owner_id("sweep"))
    elif new:
        ask(new, owner_id("sweep"))


def sweep_progress(specs: Sequence[Spec]) -> Progress:
    """Their state in the store, those that are finished counted as such."""
    return together.progress(specs, missing(specs), owner_id("sweep"))


def kinds_of(study: SweepView) -> dict[str, CurveStyle]:
    """What gives each line its look. Where the budget is the axis, the markers alone have the shades of it. Lines of
    one colour, those of mechanisms, have dashes of their own."""
    shaded = study.x != study.subject.budget(study.base)
    lines = [line for line in study.lines if points(study, line)]
    found = [look_of(points(study, line)[0][1]) for line in lines]
    return dict(zip(lines, looks_of(found, shaded=shaded), strict=True))


def drawn_lines(study: SweepView) -> list[str]:
    """The lines that have a curve: without privacy there is no price, and some cannot be run."""
    priced = study.show == "price"
    return [line for line in study.lines if points(study, line) and not (priced and study.free(line))]


def way_titles(ways: Sequence[str]) -> list[str]:
    """What each way of `users_search` is called: model and mechanism."""
    return [text[0].upper() + text[1:] for text in (PrivacyChoice.parse(way).title for way in ways)]


def frontiers(study: SweepView, k: int | None = None) -> list[Frontier]:
    """A curve for each line of `drawn_lines`, from the seeds that are finished. k: after so many episodes; None: at the
    end."""
    curves = []
    looks, named = kinds_of(study), study.titles
    for line in drawn_lines(study):
        x = [value for value, _ in points(study, line)]
        runs = [spec for _, spec in points(study, line)]
        rows = np.array([values(study, spec, k) for spec in runs]).reshape(len(runs), -1).T
        lost = np.array([band(study, reached(spec, k))[0] for spec in runs])
        worst = np.array([worst_of(spec, k) for spec in runs])
        proved = proved_exponent(runs[0], study.x, price=study.show == "price")
        name, look = named[line], looks[line]
        curves.append(
            frontier_of(name, look, runs, x, rows, lost, worst, proved=proved, statistic=study.statistic)
        )
    return curves


def worst_of(spec: Any, k: int | None = None) -> float:
    """All that there is to lose in a run, or in its first k episodes; NaN while V* is not known."""
    v_star = answers.v_star(spec)
    worst = np.nan if v_star is None else all_to_lose(spec, v_star)
    return worst if k is None or spec.kind != RunSpec.kind else worst * k / spec.size


def points(study: SweepView, line: str) -> list[tuple[Any, Any]]:
    """The values of the axis at which this line can be run, with its runs."""
    return study.points(line)


def values(study: SweepView, spec: Any, k: int | None = None) -> NDArray[np.float64]:
    """[seeds] what the chart shows of a run: regret, or its excess over the same seed without privacy."""
    return reached(spec, k) - reached(spec.baseline(), k) if study.show == "price" else reached(spec, k)


def band(study: SweepView, values: NDArray[np.float64]) -> tuple[float, float, float]:
    """What is shown of values [seeds], of those that are known: mean (or median), low, high."""
    return band_of(values, study.statistic)


def order_words(study: SweepView) -> list[str]:
    """Whether a larger budget was ever significantly worse, and how that was tested; nothing where not known."""
    if study.x != study.subject.budget(study.base):
        return []
    groups, symbol = {}, SYMBOLS[study.x]
    for line, title in study.titles.items():
        runs = points(study, line)
        if not runs or study.free(line) or missing([spec for _, spec in runs]):
            continue
        rows = np.array([ends(spec) for _, spec in runs]).T
        groups[title] = (np.array([x for x, _ in runs]), rows)
    compared, found = metrics.reversals(groups)
    if not compared:
        return []
    test = f"The test: {compared} pairs, paired t tests of means, Holm-corrected, at the 5% level."
    if not found:
        return [f"Larger {symbol} is never significantly worse.", test]
    worst = worst_of(study.base)
    if not np.isfinite(worst):
        return []
    lost = {
        (title, x): mean / worst
        for title, (at, rows) in groups.items()
        for x, mean in zip(at, rows.mean(0), strict=True)
    }
    least = min(min(lost[r.group, r.smaller], lost[r.group, r.larger]) for r in found)
    most = max(r.excess for r in found) / worst
    where = listed(list(dict.fromkeys(r.group for r in found)))
    said = [
        f"Larger {symbol} is significantly worse in {len(found)} of {compared} pairs, by at most {most:.1%} of all "
        f"there is to lose. These are pairs of {where}."
    ]
    if least > 0.9:
        said.append(f"That is only where nothing is learned yet: at least {least:.0%} is lost there.")
    return [*said, test]


SENTENCE = 3  # so many names are in one


def refusals(study: SweepView) -> list[str]:
    """What is left out of the chart and why, a sentence in Markdown for each reason."""
    named = (
        dict(zip(study.ways, way_titles(study.ways), strict=True)) if study.show == "users" else study.titles
    )
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
    """The search for the users that one way to be private needs, as far as the runs that are finished allow."""
    runs = study.searches[way]

    def price_at(episodes: int) -> NDArray[np.float64] | None:
        spec = runs[episodes]
        price = (ends(spec) - ends(spec.baseline())) / episodes
        return price if np.isfinite(price).all() else None

    return search.search_users(
        price_at, target, tuple(runs), study.base.episodes, search.bootstrap(study.base.seeds)
    )


def pending(study: SweepView, way: str, found: search.UsersFound) -> list[RunSpec]:
    """The runs that the search waits for."""
    if found.pending is None:
        return []
    spec = study.searches[way][found.pending]
    return missing([spec, spec.baseline()])
