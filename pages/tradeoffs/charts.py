"""The results of a study: curves, bounds from papers, warnings, and the search for the number of users needed."""

from __future__ import annotations

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from dprl.environments import ENVIRONMENTS
from dprl.figures.tradeoff import TITLES, Frontier, ProvedLine
from dprl.figures.users import UsersRow, users_needed
from dprl.messages import filled
from dprl.metrics import search
from dprl.metrics.growth import Growth, growth_between
from dprl.privacy import PRIVATIZERS
from dprl.research.frontiers import SYMBOLS, all_to_lose, bound_of_run, frontier_of, looks_of
from dprl.research.series import style_of
from dprl.sentences import doubts as doubted
from dprl.simulation import RunSpec
from dprl.simulation.axes import PrivacyChoice
from dprl.theory import BOUNDS, BoundSetting
from dprl.words import count, human, listed, quoted, rough, some
from pages.shared.controls.widgets import exact
from pages.shared.layout.chart import kept, show
from pages.shared.layout.terms import escape, explained
from pages.shared.results import answers, status
from pages.shared.results.status import working_out
from pages.shared.visitor.links import fields_of
from pages.tradeoffs.study import RUNS, SAID, USERS_GRID, SweepView, trade

ends = RUNS.ends
# The bound drawn for each privacy model if no paper has one for the algorithm.
PROVED = {"none": "minimax", "central": "dp-ucbvi-jdp", "shuffle": "sdp-pe", "local": "dp-ucbvi-ldp"}


def drawn_models(study: SweepView) -> list[str]:
    """Return the models that can be run, except "none" if the privacy cost is drawn."""
    priced = study.show == "price"
    return [model for model in study.models if study.points(model) and not (priced and model == "none")]


def frontiers(study: SweepView) -> list[Frontier]:
    """Return a curve for each of `drawn_models`, from the finished seeds. If the axis is the budget, only the markers
    are shaded by budget. Mechanisms of one model share a colour, and have different dashes."""
    show = next(one for one in TITLES if one == study.show)
    models = [model for model in study.models if study.points(model)]
    found = [style_of(study.points(model)[0][1]) for model in models]
    looks = dict(zip(models, looks_of(found, shaded=study.x != "epsilon"), strict=True))
    return [
        frontier_of(
            study.titles[model], looks[model], study.points(model), study.x, show, ends, worst_of,
            statistic=study.statistic,
        )
        for model in drawn_models(study)
    ]  # fmt: skip


def worst_of(spec: RunSpec) -> float:
    """Return the largest possible loss in a run, or NaN while V* is unknown."""
    v_star = answers.v_star(spec)
    return np.nan if v_star is None else all_to_lose(spec, v_star)


def price(spec: RunSpec) -> NDArray[np.float64]:
    """Return a run's privacy cost for each seed: its regret minus the regret without privacy [seeds]."""
    return ends(spec) - ends(spec.baseline())


def growth(study: SweepView) -> dict[str, list[Growth]]:
    """Return how each finished private model's cost grows with the number of users, or {} on other axes."""
    if study.x != "episodes":
        return {}
    found = {}
    for model in study.models:
        points = study.points(model)
        if model == "none" or len(points) < 2 or RUNS.missing([spec for _, spec in points]):
            continue
        x, rows = np.array([k for k, _ in points], float), np.array([price(spec) for _, spec in points]).T
        found[study.titles[model]] = growth_between(x, rows)
    return found


def refusals(study: SweepView) -> list[str]:
    """List the reasons why parts of the chart are left out, as sentences in Markdown."""
    said = []
    for reason, models in study.refusals.items():
        names = listed([quoted(study.titles[model]) for model in models])
        some = {"models": names} if len(models) < len(study.titles) else {}
        said.append(filled(SAID["some" if some else "none"], reason=escape(reason), **some))
    return said


def users_search(study: SweepView, way: str, target: float) -> search.UsersFound:
    """Return the search for the number of users needed under one privacy model, as far as finished runs allow."""
    runs = study.searches[way]

    def price_at(episodes: int) -> NDArray[np.float64] | None:
        each = price(runs[episodes]) / episodes
        return each if np.isfinite(each).all() else None

    return search.search_users(
        price_at, target, tuple(runs), study.base.episodes, search.bootstrap(study.base.seeds)
    )


def target(study: SweepView) -> float:
    """Return the largest allowed privacy cost per episode, a share of V*, or NaN while V* is unknown."""
    v_star = answers.v_star(study.base)
    return np.nan if v_star is None else study.share / 100 * v_star


def wanted(study: SweepView) -> list[RunSpec]:
    """Return the runs that the visible chart needs now. Each step of a search depends on its previous runs."""
    if study.show != "users":
        return list(study.sweep.specs)
    found: list[RunSpec] = []
    for way, runs in study.searches.items() if target(study) > 0 else ():
        if (pending := users_search(study, way, target(study)).pending) is not None:
            found += RUNS.missing([runs[pending], runs[pending].baseline()])
    return list(dict.fromkeys(found))


def proved(study: SweepView) -> tuple[list[ProvedLine], tuple[str, ...]]:
    """Return the papers' bounds for the drawn models at one episode per user, and a description of each."""
    drawn: list[ProvedLine] = []
    said: list[str] = []
    if study.bounds == "off" or study.x == "contribution" or study.base.contribution > 1:
        return [], ()
    for model in drawn_models(study):
        privacy = PrivacyChoice.parse(model).privacy
        points = study.points(model)
        bound = bound_of_run(points[0][1]) or BOUNDS[PROVED[privacy]]
        label = f"{bound.title}, {PRIVATIZERS[privacy].title}"
        if label in {line.label for line in drawn}:
            continue
        settings = [setting_of(spec) for _, spec in points]
        height = bound.price if study.show == "price" else bound.value
        values = np.array([float(height(at)) for at in settings])
        if study.show == "share":
            values /= [worst_of(spec) for _, spec in points]
        epsilon = None if study.x == "epsilon" else points[0][1].epsilon
        drawn.append(ProvedLine(label, privacy, epsilon, np.array([x for x, _ in points], float), values))
        unmet = bound.unmet(settings[0])
        side = "at most" if bound.upper else "at least"
        text = filled(SAID["bound"], bound=label, side=side, formula=bound.formula, paper=bound.paper)
        said.append(f"{text} {filled(SAID['bound_unmet'], condition=unmet) if unmet else ''}".strip())
    return drawn, tuple(said)


def setting_of(spec: RunSpec) -> BoundSetting:
    """Return the arguments that the bounds need for a run. A tabular environment counts as S·A features."""
    S, A, H, *d = ENVIRONMENTS[spec.environment].size(**spec.environment_params)
    return BoundSetting(S, A, H, spec.episodes, spec.epsilon or 1.0, (d and d[0]) or S * A)


def doubts_of(study: SweepView) -> list[str]:
    """Warn about runs without privacy that have not found the best policy, and about privacy costs below zero. If users
    are the axis, check only the largest number, because with few users the algorithm has not learned enough yet."""
    stuck: dict[str, tuple[int, int]] = {}
    negative: list[str] = []
    for model, title in study.titles.items():
        for x, spec in study.points(model):
            at = f"{SYMBOLS.get(study.x, study.x)} = {count(x) if x >= 1 else format(x, 'g')}"
            last = study.x != "episodes" or x == study.values[-1]
            if last and (seeds := status.stuck(spec.baseline())):
                stuck["" if study.x == "epsilon" else at] = (seeds, spec.seeds)
            if spec != spec.baseline():
                negative += status.below_zero(f"{title} at {at}", price(spec))
    said = [doubted.unsettled(*max(stuck.values()), at=list(filter(None, stuck)))] if stuck else []
    return [*said, doubted.about_negative_prices(negative)]


Found = dict[str, search.UsersFound]  # the search under each privacy model


def fewest(study: SweepView, way: str, users: search.UsersFound) -> bool:
    """Return whether the search ended at the smallest K, so that fewer users may be enough."""
    return users.needed == min(study.searches[way])


def fewest_and_most(study: SweepView, found: Found) -> str:
    """Name the privacy models that need the fewest and the most users."""
    titles = {way: quoted(study.titles[way]) for way in found}
    needs = {way: users.needed for way, users in found.items() if np.isfinite(users.needed)}
    if len(needs) < 2 and any(users.pending for users in found.values()):
        return str(SAID["searching"])
    if not needs:
        return str(SAID["unreached"])
    few = [way for way in needs if fewest(study, way, found[way])]
    best, most = min(needs, key=needs.__getitem__), max(needs, key=needs.__getitem__)
    least = rough(needs[best])
    if few:
        key = "smallest_one" if len(few) == 1 else "smallest"
        said = filled(SAID[key], models=some([titles[way] for way in few]), users=least)
    else:
        said = filled(SAID["only" if len(needs) == 1 else "fewest"], model=titles[best], users=least)
    if needs[most] > needs[best]:
        said += f" {filled(SAID['most'], model=titles[most], users=rough(needs[most]))}"
    return said


def needed(study: SweepView) -> None:
    """Plot the users needed under each privacy model to make the privacy cost per episode small enough."""
    base, name = study.base, "Highest privacy cost of an episode, % of V*"
    with st.columns(2)[0]:
        exact(name, "share", fields_of(SweepView)["share"], study.share, lambda to: trade().change(share=to))
    v_star = answers.v_star(base)
    if v_star is None:
        st.info(working_out("the reward of an optimal episode"))
        return
    if v_star == 0:
        st.info(SAID["nothing"])
        return
    found = {way: users_search(study, way, target(study)) for way in study.searches}
    if not found:
        st.info(SAID["impossible" if study.private else "no_model"])
        return
    several = base.seeds > 1
    rows = []
    for way, users in found.items():
        most = max(study.searches[way])
        if users.pending is not None:
            note = "searching"
        elif np.isnan(users.needed):
            note = f"more than {human(most)}"
        else:
            note = f"at most {human(users.needed)}" if fewest(study, way, users) else ""
        low, high = (users.low, users.high) if several else (np.nan, np.nan)
        look = style_of(study.searches[way][most])
        rows.append(UsersRow(study.titles[way], look, users.needed, low, high, note))
    heading = f"Users for a privacy cost below {study.share:g}% of V*"
    end, see = float(USERS_GRID[-1]), fewest_and_most(study, found)
    picture = kept(
        ("users", heading, base.to_json(), tuple(map(repr, rows))),
        lambda night: users_needed(rows, title=heading, most=end, see=see, dark=night),
    )
    show(picture, "users")
    values = {"epsilon": f"{base.epsilon:g}", "delta": human(base.delta or 0.0), "v_star": f"{v_star:.4g}"}
    st.caption(explained(filled(SAID["search"], **values, bars=SAID["bars" if several else "no_bars"])))
