"""What a visitor's session holds of the page Trade-offs, and what it reads from the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

import numpy as np
from numpy.typing import NDArray

from dprl import metrics, search
from dprl.figures.looks import Kind, numbered
from dprl.figures.tradeoff import Frontier
from dprl.learners import ALGORITHMS
from dprl.privacy import PRIVATIZERS
from dprl.simulation import RunSpec
from dprl.simulation.axes import Model
from dprl.simulation.pairs import calibrations_for, mechanisms_for
from dprl.theory import BOUNDS
from dprl.words import quoted
from pages.shared.names import kind_of
from pages.shared.results import answers, data, together
from pages.shared.results.bundled import bundled_ends
from pages.shared.results.together import Progress
from pages.shared.text import escape
from pages.shared.values import written
from pages.shared.visitor.address import Query
from pages.shared.visitor.draft import draft_of
from pages.shared.visitor.state import ask, begin, session, write_address
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import Study

LEARNED = 0.5  # of all there is to lose: where less is lost, a slope says something
FEWEST = 3  # points of a slope
GUIDES = {"central": "dp-ucbvi-jdp", "shuffle": "sdp-pe", "local": "dp-ucbvi-ldp"}  # whose slope is drawn
EXPONENTS = {"epsilon": "epsilon", "episodes": "K", "H": "H", "S": "S"}


@dataclass
class Trade:
    """What a visitor has on the page.

    Attributes:
        study: what is shown.
        models, x, values: what the controls say, the values as text for each axis.
        address: the query last read or written.
        problems: what a link said that could not be used.
        asked: the study's runs were asked for; linked: by the link that was read.
        picked: model and value of the point that was pressed.
    """

    study: Study = studies.DEFAULT
    models: list[str] = field(default_factory=lambda: list(studies.DEFAULT.models))
    x: str = studies.DEFAULT.x
    values: dict[str, str] = field(default_factory=dict)
    address: str | None = None
    problems: tuple[str, ...] = ()
    asked: bool = False
    linked: bool = False
    picked: tuple[int, int] | None = None

    @property
    def base(self) -> RunSpec:
        """The run that the controls begin with."""
        return self.study.base

    @property
    def begun(self) -> bool:
        """Whether a link was read, or something was changed."""
        return self.address is not None

    @property
    def link(self) -> list[tuple[str, str]]:
        """The query parameters of the link to what is seen."""
        return studies.encode(self.study)

    @property
    def query(self) -> str:
        """The link to what is seen now, without the question mark."""
        return urlencode(self.link)

    def follow(self, given: Query) -> None:
        """Takes over a link, and starts what it names."""
        study, problems = studies.decode(given, session().files)
        self.problems = tuple(problems)
        show_study(study)
        self.linked = True
        self.asked = study.show == "users" or begin(missing(study.sweep.specs), visitor())


def trade() -> Trade:
    """This visitor's study."""
    return session().part(Trade)


def visitor() -> str:
    """In whose name the runs of a sweep are asked for: one's own runs in Explore do not wait behind them."""
    return f"{session().visitor}:sweep"


def show_study(study: Study) -> None:
    """Makes a study the one that is shown, and the controls those that give it."""
    t, s = trade(), session()
    t.study, t.models, t.x, t.picked, t.asked = study, list(study.models), study.x, None, False
    t.values[study.x] = written(study.values)
    s.draft = draft_of(study.base)
    s.version += 1


def change(**changes: Any) -> None:
    """Changes how the study is looked at."""
    t = trade()
    t.study = replace(t.study, **changes)
    write_address(t)


def ends(spec: RunSpec) -> NDArray[np.float64]:
    """[seeds] regret at the end of a run, bundled or from the store, NaN where it is not known."""
    bundled = bundled_ends().get(spec)
    return data.ends(spec) if bundled is None else bundled


def missing(specs: Sequence[RunSpec]) -> list[RunSpec]:
    """The runs that are not finished."""
    return [spec for spec in specs if not np.isfinite(ends(spec)).all()]


def start() -> None:
    """Asks for the runs of the study that are missing."""
    t = trade()
    t.asked, t.linked = True, False
    if t.study.show != "users":
        ask(missing(t.study.sweep.specs), visitor())


def go_on(specs: Sequence[RunSpec]) -> None:
    """Asks for what a search needs now. One that a link began ends where it would cost too much."""
    t = trade()
    new = [spec for spec in specs if data.status(spec, visitor()).state == "unknown"]
    if new and t.linked:
        t.asked = begin(new, visitor())
    elif new:
        ask(new, visitor())


def progress(specs: Sequence[RunSpec]) -> Progress:
    """Their state in the store, those that are finished counted as such."""
    return together.progress(specs, missing(specs), visitor())


def kinds_of(study: Study) -> dict[str, Kind]:
    """What gives each model's line its look; where epsilon is the axis, the markers alone have the shades of it."""
    found = []
    for model in study.models:
        runs = points(study, model)
        one = kind_of(runs[0][1]) if runs else Kind(Model.parse(model).privacy)
        found.append(replace(one, epsilon=None) if study.x == "epsilon" else one)
    return dict(zip(study.models, numbered(found), strict=True))


def titles(models: Sequence[str]) -> list[str]:
    """What each model is called in a legend."""
    kinds = [Model.parse(text).privacy for text in models]
    result = []
    for text, kind in zip(models, kinds, strict=True):
        model = Model.parse(text)
        alone = kinds.count(kind) == 1 and model.mechanism is None
        title = PRIVATIZERS[kind].title if alone or kind == "none" else model.title
        result.append(title[0].upper() + title[1:])
    return result


def drawn(study: Study) -> list[str]:
    """The models that have a curve: without privacy there is no price, and some cannot be run."""
    priced = study.show == "price"
    return [m for m in study.models if points(study, m) and not (priced and Model.parse(m).privacy == "none")]


def way_titles(ways: Sequence[str]) -> list[str]:
    """What each way of `users` is called: model and mechanism."""
    return [text[0].upper() + text[1:] for text in (Model.parse(way).title for way in ways)]


def frontiers(study: Study) -> list[Frontier]:
    """A curve for each model of `drawn`, from the seeds that are finished."""
    curves = []
    looks, named = kinds_of(study), dict(zip(study.models, titles(study.models), strict=True))
    for model in drawn(study):
        privacy = Model.parse(model).privacy
        x = [value for value, _ in points(study, model)]
        runs = [spec for _, spec in points(study, model)]
        rows = np.array([values(study, spec) for spec in runs]).reshape(len(runs), -1).T
        regret = np.array([band(study, ends(spec))[0] for spec in runs])
        worst = np.array([worst_of(spec) for spec in runs])
        bands = np.array([band(study, column) for column in rows.T]).reshape(len(runs), 3)
        whole = np.isfinite(rows).all(axis=0)
        fit = whole & (regret < LEARNED * worst)
        enough = fit.sum() >= FEWEST and privacy != "none"
        inside = np.array(x, float)[fit]
        curves.append(
            Frontier(
                label=named[model],
                kind=looks[model],
                epsilon=tuple(spec.epsilon for spec in runs),
                x=np.array(x),
                center=bands[:, 0],
                low=bands[:, 1],
                high=bands[:, 2],
                seeds=np.isfinite(rows).sum(axis=0),
                whole=whole,
                worst=worst,
                share=metrics.share_of_worst(bands[:, 0], worst),
                slope=metrics.power_law(inside, rows[:, fit], study.statistic) if enough else (np.nan,) * 3,
                fitted=(inside[0], inside[-1]) if enough else (np.nan, np.nan),
                theory=theory(privacy, study.x) if study.show == "price" else None,
            )
        )
    return curves


def worst_of(spec: RunSpec) -> float:
    """All that the users of a run can lose, K V*; NaN while V* is not known."""
    v_star = answers.v_star(spec)
    return np.nan if v_star is None else spec.episodes * v_star


def points(study: Study, model: str) -> list[tuple[Any, RunSpec]]:
    """The values of the axis at which this model can be run, with its runs."""
    return [(p.values[1], p.spec) for p in study.sweep.points if p.values[0] == model and p.spec is not None]


def values(study: Study, spec: RunSpec) -> NDArray[np.float64]:
    """[seeds] what the chart shows of a run: regret, or its excess over the same seed without privacy."""
    return ends(spec) - ends(spec.twin()) if study.show == "price" else ends(spec)


def band(study: Study, values: NDArray[np.float64]) -> tuple[float, float, float]:
    """What is shown of values [seeds], of those that are known: mean (or median), low, high."""
    known = values[np.isfinite(values)]
    center, low, high = metrics.BANDS[study.statistic](known.reshape(-1, 1))
    return float(center[0]), float(low[0]), float(high[0])


def theory(privacy: str, x: str) -> float | None:
    """The exponent of x in the price that a paper's bound puts on this privacy model, where it has one."""
    if privacy not in GUIDES or x not in EXPONENTS:
        return None
    (price,) = (term for term in BOUNDS[GUIDES[privacy]].terms if term.epsilon)
    return float(getattr(price, EXPONENTS[x]))


def order(study: Study) -> str:
    """Whether a larger epsilon was ever significantly worse, in a sentence with its numbers; "" where not known."""
    if study.x != "epsilon":
        return ""
    groups = {}
    for model, title in zip(study.models, titles(study.models), strict=True):
        runs = points(study, model)
        if not runs or Model.parse(model).privacy == "none" or missing([spec for _, spec in runs]):
            continue
        rows = np.array([ends(spec) for _, spec in runs]).T
        groups[title] = (np.array([x for x, _ in runs]), rows)
    compared, found = metrics.reversals(groups)
    if not compared:
        return ""
    test = f"{compared} pairs compared, paired t tests of means, Holm-corrected, 5%"
    if not found:
        return f"Larger ε is never significantly worse ({test})."
    worst = worst_of(study.base)
    if not np.isfinite(worst):
        return ""
    lost = {
        (title, x): mean / worst
        for title, (at, rows) in groups.items()
        for x, mean in zip(at, rows.mean(0), strict=True)
    }
    least = min(min(lost[r.group, r.smaller], lost[r.group, r.larger]) for r in found)
    most = max(r.excess for r in found) / worst
    where = ", ".join(dict.fromkeys(r.group for r in found))
    said = (
        f"Larger ε is significantly worse in {len(found)} of these ({test}): {where}, "
        f"by at most {most:.1%} of all there is to lose"
    )
    if least > 0.9:
        said += f", and only where nothing is learned yet (at least {least:.0%} lost)"
    return said + "."


def refusals(study: Study) -> list[str]:
    """What is left out of the chart and why, a sentence in Markdown for each reason."""
    compared = study.ways if study.show == "users" else study.models
    said = way_titles(compared) if study.show == "users" else titles(compared)
    named = dict(zip(compared, map(quoted, said), strict=True))
    sentences = []
    for reason, models in study.refusals.items():
        of = f" of {' and '.join(named[model] for model in models)}" if len(models) < len(compared) else ""
        sentences.append(f"Left out{of}: {escape(reason)}")
    return sentences


def offered(algorithm: str) -> list[str]:
    """The models that can be compared for an algorithm: each privacy model, then its mechanisms one by one."""
    found = []
    for privacy in PRIVATIZERS:
        if privacy not in ALGORITHMS[algorithm].privacies:
            continue
        found.append(privacy)
        for mechanism in mechanisms_for(algorithm, privacy):
            for noise in calibrations_for(algorithm, mechanism):
                found.append(f"{privacy}:{mechanism}:{noise}")
                if noise == "paper" and "laplace" in mechanism:
                    found.append(f"{privacy}:{mechanism}:scaled")
    return found


def users(study: Study, way: str, target: float) -> search.Users:
    """The search for the users that one way to be private needs, as far as the runs that are finished allow."""
    runs = study.searches[way]

    def price_at(episodes: int) -> NDArray[np.float64] | None:
        spec = runs[episodes]
        price = (ends(spec) - ends(spec.twin())) / episodes
        return price if np.isfinite(price).all() else None

    return search.search_users(
        price_at, target, tuple(runs), study.base.episodes, search.bootstrap(study.base.seeds)
    )


def pending(study: Study, way: str, found: search.Users) -> list[RunSpec]:
    """The runs that the search waits for."""
    if found.pending is None:
        return []
    spec = study.searches[way][found.pending]
    return missing([spec, spec.twin()])
