"""Explore: what it opens on, its tabs and charts in every state, and the look of a run wherever it is drawn."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS, run
from dprl.environments import ENVIRONMENTS
from dprl.figures import looks, style
from dprl.figures import one_user as figures
from dprl.figures.grid import is_grid
from dprl.mdp import TabularMDP, planning
from dprl.privacy import PRIVATIZERS
from dprl.research.one_user import APART, apart, best_content, content, drawable, episode
from dprl.runs.store import Store
from dprl.sentences.noise import IN_A_COUNT
from dprl.simulation import RunSpec
from dprl.simulation.pairs import calibrations_for
from dprl.words import percent
from pages.shared.names import kinds, titles
from pages.shared.visitor.draft import spec_from
from pages.shared.visitor.links import AT_FIRST, Curve, View, fields_of, most_private
from tests.pages.conftest import Visit, Work, charts, chip, go, keyed, legend, press, widget, words
from tests.pages.test_pages import PRIVATE, SMALL, SPEC
from tests.problems import first, home, loop


def test_explore_warns_where_the_price_of_privacy_says_nothing(visit: Visit, work: Work) -> None:
    found = {}
    for bonus, K in (("anytime", "1e6"), ("paper", "1000")):
        curves = [f"envp.S.3~envp.H.3~K.{K}~seeds.2~eps.100~bonus.{bonus}", "priv.none"]
        visit("explore", c=curves)
        work()
        found[bonus] = [warning.value for warning in visit("explore", c=curves, m="extra").warning]
    assert found["anytime"] == []
    (warned,) = found["paper"]
    assert "Without privacy, the algorithm did not find the best policy in 2 of 2 seeds" in warned


@pytest.mark.parametrize("curve", first([PRIVATE, f"{SMALL}~priv.none"]))
def test_every_tab_in_every_state(visit: Visit, work: Work, curve: str) -> None:
    for seeds in (0, 1, 1):
        work(seeds)
        for tab in fields_of(View)["tab"].choices:
            app = visit("explore", c=[curve], tab=tab)
            assert app.session_state["session"].explore.view.tab == tab
            if seeds == 1 and tab in ("regret", "counts", "policy"):
                (chart,) = charts(app)
                assert chart.alt
                assert ":material/visibility:" in words(app)  # the sentence that says what to see


@pytest.mark.parametrize("learner", ["riverswim", "gridworld", "gridworld~alg.private-ucb-po"])
def test_every_chart_of_the_policy(finished: Visit, visit: Visit, learner: str) -> None:
    """Chances are drawn of a stochastic policy alone."""
    curve = f"env.{learner}~envp.H.4~K.1000~seeds.1~eps.100"
    finished("explore", c=[curve])
    for chart in fields_of(View)["drawn"].choices:
        (drawn,) = charts(visit("explore", c=[curve], tab="policy", pol=chart, h="1"))
        if chart == "chances":
            assert drawn.alt.startswith("Heatmaps of the chance of each action") == ("alg" in learner)


def test_a_view_beyond_the_run_shows_the_nearest_there_is(finished: Visit, visit: Visit) -> None:
    finished("explore", c=[PRIVATE])
    for tab in ("counts", "policy"):
        app = visit("explore", c=[PRIVATE], tab=tab, seed="99", h="900", pol="map")
        assert len(charts(app)) == 1


def test_the_price_of_privacy_needs_the_baseline_and_offers_to_run_it(
    finished: Visit, work: Work, store: Store
) -> None:
    app = finished("explore", c=[PRIVATE], m="extra")
    assert charts(app) == []
    assert "missing for 1 curve" in words(app)
    widget(app, "button", "Run without privacy").click().run()
    assert store.status(SPEC.baseline()).state == "queued"
    work()
    app.run()
    assert charts(app)[0].alt.startswith("Line chart of the regret added by privacy")


def test_the_camera_above_each_chart_saves_what_was_chosen(finished: Visit, visit: Visit) -> None:
    app = finished("explore", c=[PRIVATE], tab="data")
    (chart,) = charts(visit("explore", c=[PRIVATE]))
    picture = json.loads(chart.config)["toImageButtonOptions"]
    assert (picture["format"], picture["scale"], picture["filename"]) == ("png", 3, "regret")
    assert "RiverSwim (S = 3, H = 3" in str(picture["footer"])
    app.segmented_control(key="saves").set_value("svg").run()
    go(app, "home")
    (chart,) = charts(app)
    picture = json.loads(chart.config)["toImageButtonOptions"]
    assert (picture["format"], picture["scale"]) == ("svg", 1)


def test_environments_are_told_apart_by_dashes() -> None:
    specs = [RunSpec("riverswim"), RunSpec("chain"), RunSpec("clinic"), RunSpec("riverswim", privacy="local")]
    first, second, third, again = (look.dash for look in kinds(list(map(Curve, specs))))
    assert first == again == "solid"
    assert len({first, second, third}) == 3


def test_every_noise_has_a_marker_and_every_learner_a_dash() -> None:
    for model, privatizer in PRIVATIZERS.items():
        known = {
            (m, size) for a in ALGORITHMS for m in privatizer.mechanisms for size in calibrations_for(a, m)
        }
        assert len(set(style.SYMBOLS[model])) >= len(known)
    assert len(set(looks.DASHES)) >= len(ALGORITHMS)


def test_a_curve_looks_the_same_in_the_chart_on_its_chip_and_on_other_pages(
    finished: Visit, visit: Visit
) -> None:
    link = {"c": ["envp.S.3~envp.H.3~K.1000~seeds.1~priv.central~eps.0.3", "eps.3", "eps.3~K.2000"]}
    app = finished("explore", **link)
    colors = [looks.color("central", epsilon, dark=False) for epsilon in (0.3, 3.0, 3.0)]
    (rules,) = [e.proto.body for e in app.get("html") if ".st-key-chip_0" in e.proto.body]
    signs = [base64.b64decode(uri).decode() for uri in re.findall(r"base64,([^)]+)", rules)]
    assert [color in sign for color, sign in zip(colors, signs, strict=True)] == [True] * 3
    assert [">2</text>" in sign for sign in signs] == [False, False, True]
    drawn = list(legend(app).items())[:3]
    assert [trace["line"]["color"] for _, trace in drawn] == colors
    assert [name.startswith("2: ") for name, _ in drawn] == [False, False, True]
    home = visit(eps="0.3", v="1")
    assert colors[0] in {trace["line"].get("color") for trace in legend(home).values()}


LINK = [f"{SMALL}~priv.none", "priv.central~eps.10", "priv.central~eps.0.1", "priv.local~eps.1"]
BASE = RunSpec(environment_params={"S": 3, "H": 3})


HIDDEN = Curve(BASE, hidden=True)


@pytest.mark.parametrize(
    ("curves", "found"),
    [
        ((BASE.baseline(), BASE, BASE.replace(epsilon=0.1), BASE.replace(epsilon=10.0)), 2),
        ((BASE.baseline(), *(BASE.replace(privacy=p) for p in ("local", "shuffle", "central"))), 1),
        ((BASE, BASE.replace(calibration="paper"), BASE.baseline()), 1),
        ((BASE.replace(epsilon=0.5), BASE.replace(privacy="local")), 0),
        ((BASE.baseline(), BASE.replace(bonus="paper").baseline()), 0),
        ((BASE.baseline(), HIDDEN), 0),  # what is hidden is not looked at first
        ((HIDDEN, Curve(BASE.replace(epsilon=0.1), hidden=True)), 1),
    ],
)
def test_the_most_private_promises_most(curves: tuple[RunSpec | Curve, ...], found: int) -> None:
    assert most_private([Curve(one) if isinstance(one, RunSpec) else one for one in curves]) == found


def test_a_link_fills_the_settings_with_its_most_private_curve(visit: Visit) -> None:
    app = visit("explore", c=LINK)
    session = app.session_state["session"]
    assert spec_from(session.draft) == session.explore.curves[2].spec
    assert keyed(app, "text_input", "epsilon:exact").value == "0.1"
    untouched = visit("explore", c=["priv.none~K.1e15", "priv.central", "priv.shuffle", "priv.local~delta.0"])
    assert spec_from(untouched.session_state["session"].draft).privacy == "central"  # as before it was copied


def test_a_curve_that_was_chosen_stays_when_another_goes_or_comes(visit: Visit) -> None:
    app = visit("explore", c=LINK, tab="data")
    widget(app, "selectbox", "Curve").set_value(1).run()
    chip(app, "Remove", 0).click().run()
    assert app.session_state["session"].explore.view.curve == 0
    chip(app, "Remove", 0).click().run()
    assert app.session_state["session"].explore.view.curve == -1


def test_the_first_run_in_an_environment_comes_with_its_baseline_and_others_alone(
    visit: Visit, store: Store
) -> None:
    app = visit("bare")
    press(app, "run")
    assert store.activity().runs_waiting == 0  # both come with the program
    assert charts(app)[0].alt.startswith("Line chart of the share of V* lost so far")
    kept = app.session_state["session"].explore
    assert kept.curves == [Curve(RunSpec()), Curve(RunSpec().baseline())]
    assert kept.view == AT_FIRST
    widget(app, "button_group", "Regret shown").set_value("cumulative").run()
    assert kept.view == View()  # on a logarithmic axis
    widget(app, "text_input", "Privacy budget ε, exact value").input("3").run()
    press(app, "run")
    assert [c.spec for c in kept.curves] == [RunSpec(), RunSpec().baseline(), RunSpec(epsilon=3.0)]
    widget(app, "selectbox", "Environment").select("chain").run()
    press(app, "run")
    *before, other, baseline = kept.curves
    assert (len(before), other.spec.environment, baseline.spec) == (3, "chain", other.spec.baseline())
    assert titles(kept.curves) == [
        "RiverSwim: Central ε = 1",
        "RiverSwim: No privacy",
        "RiverSwim: Central ε = 3",
        "Combination lock: Central ε = 3",
        "Combination lock: No privacy",
    ]
    bare = visit("bare")
    widget(bare, "selectbox", "Privacy model").select("none").run()
    press(bare, "run")
    assert [c.spec for c in bare.session_state["session"].explore.curves] == [RunSpec(privacy="none")]


LEARNERS = [key for key, learner in ALGORITHMS.items() if not learner.statistic.counted]
LINEAR = {
    "linear-mixture": "envp.d.2~envp.S.3~envp.H.3",
    "linear-mdp": "envp.stages.1~envp.drugs.2~envp.symptoms.2~envp.H.3",
}


def short(key: str, privacy: str) -> str:
    """A small run of a learner where it fits."""
    return f"env.{home(key)}~{LINEAR[home(key)]}~alg.{key}~K.1000000~seeds.1~priv.{privacy}"


@pytest.mark.parametrize(
    ("key", "privacy"),
    first([(k, p) for k in LEARNERS for p in ALGORITHMS[k].privacies], lambda given: loop(given[0])),
)
def test_every_tab_of_a_run_without_counts(visit: Visit, work: Work, key: str, privacy: str) -> None:
    run = short(key, privacy)
    visit("explore", c=[run, "priv.none"])
    assert work() == (1 if privacy == "none" else 2)
    for measure in ("cumulative", "extra"):
        assert bool(charts(visit("explore", c=[run], m=measure))) == (measure != "extra" or privacy != "none")
    app = visit("explore", c=[run], tab="counts")
    assert not charts(app)
    assert "receives no counts" in words(app)
    assert charts(visit("explore", c=[run], tab="policy"))
    visit("explore", c=[run], tab="data")
    app = visit("explore", c=[run, "priv.none"], tab="guarantee")
    assert "| Privacy model | Claimed | Proved |" in words(app)
    assert IN_A_COUNT not in "\n".join([words(app), *(m.label for m in app.metric)])
    if privacy != "none":
        assert "; scale" in words(app)
        assert "the features of every" in words(app)


def test_the_confidence_set_holds_the_truth_and_noise_widens_it(visit: Visit, work: Work) -> None:
    run = "env.linear-mixture~envp.d.3~envp.S.3~envp.H.4~alg.ucrl-vtr~K.1e8~seeds.2~priv.central"
    visit("explore", c=[run])
    work()
    drawn: dict[str, Any] = {}
    for near in ("on", "off"):
        (chart,) = charts(visit("explore", c=[run], tab="ellipsoid", near=near))
        drawn = {t["name"]: t for t in json.loads(chart.spec)["data"]}
    noisy, quiet = (drawn[f"confidence set {which}"] for which in ("with noise", "without noise, same users"))
    (x,), (y,) = (numbers(drawn["true weights"][axis]) for axis in "xy")
    spans = []
    for one in (noisy, quiet):
        across, up = numbers(one["x"]), numbers(one["y"])
        assert across.min() < x < across.max()
        assert up.min() < y < up.max()
        spans.append(np.ptp(across) * np.ptp(up))
    assert spans[0] > spans[1]


def numbers(given: Any) -> Any:
    """Numbers as Plotly sends them: a list, or binary."""
    if isinstance(given, dict):
        return np.frombuffer(base64.b64decode(given["bdata"]), dtype=given["dtype"])
    return np.array(given, float)


def test_attack_and_tradeoffs_say_what_they_do_with_it(visit: Visit, store: Store) -> None:
    run = short("ucrl-vtr", "central")
    app = visit("attack", b=run)
    assert "cannot be attacked here" in words(app)
    visit("tradeoffs", b=run)


SHORT: dict[str, Any] = {"episodes": 20_000, "seeds": 1, "epsilon": 50.0}
SPECS = [
    RunSpec(environment_params={"S": 3, "H": 3}, **SHORT),
    RunSpec(environment="gridworld", **SHORT).baseline(),
    RunSpec(environment="clinic", privacy="local", mechanism="laplace", reports="all", **SHORT),
    RunSpec(environment_params={"S": 3, "H": 3}, algorithm="private-ucb-po", **SHORT),
]


def possible(way: Any, mdp: TabularMDP) -> tuple[np.ndarray, np.ndarray]:
    """The states and actions of a way that the model allows."""
    s, a, h = np.array(way["states"]), np.array(way["actions"]), np.arange(mdp.H - 1)
    assert mdp.d1[s[0]] > 0
    assert (mdp.P[h, s[:-1], a[:-1], s[1:]] > 0).all()
    return s, a


@pytest.mark.parametrize(
    "spec", SPECS, ids=lambda spec: f"{spec.environment}-{spec.privacy}-{spec.algorithm}"
)
def test_users_walk_as_policy_and_model_allow_among_counts_that_the_run_kept(spec: RunSpec) -> None:
    mdp, trace = ENVIRONMENTS[spec.environment].make(**spec.environment_params), run(spec).seeds[0]
    made = content(mdp, trace)
    at = apart(trace.detail_episodes, APART)
    assert len(made["moments"]) == len(at)
    assert content(mdp, trace) == made  # whoever asks sees the same users
    for i, moment in zip(at, made["moments"], strict=True):
        for way, policy in zip(moment["ways"], (trace.policy[i], trace.optimal_policy), strict=True):
            s, a = possible(way, mdp)
            if not trace.chances.size or policy is trace.optimal_policy:
                assert (a == policy[np.arange(mdp.H), s]).all()
        true = trace.counts[i][..., -2].sum(axis=(0, 2))[: len(made["places"])]
        assert np.argsort(moment["fills"], kind="stable").tolist() == np.argsort(true, kind="stable").tolist()
        assert all(0 <= level <= 1 for level in moment["fills"] + (moment["ticks"] or []))
        assert (moment["ticks"] is None) == (spec.privacy == "none")
    assert made["moments"][0]["lost"].startswith(
        "After the first user," if trace.detail_episodes[at[0]] == 1 else "After "
    )
    if not trace.chances.size:
        value = planning.start_value(mdp, planning.policy_values(mdp, trace.policy[at[-1]]))
        assert f"loses {percent(max(1 - value / trace.v_star, 0.0))} of" in made["moments"][-1]["lost"]


@pytest.mark.parametrize("key", sorted(set(ENVIRONMENTS) - {"custom", "gymnasium"}))
def test_every_environment_that_is_small_has_a_place_for_each_state(key: str) -> None:
    mdp = ENVIRONMENTS[key].make()
    if not drawable(mdp):
        return
    still = figures.Moment(1, np.zeros(mdp.S), None, 0.0, ([0] * mdp.H, [0] * mdp.H))
    made = figures.one_user(
        [still], [still.way], drawing=mdp.drawing, states=mdp.state_labels, actions=mdp.action_labels
    )
    boxes = np.array([place["box"] for place in made["places"]])
    assert len(boxes) == (len(mdp.drawing["cells"]) if is_grid(mdp.drawing) else mdp.S)
    assert (boxes[:, :2] >= 0).all()
    assert (boxes[:, 0] + boxes[:, 2] <= figures.WIDE + 0.1).all()
    assert (boxes[:, 1] + boxes[:, 3] <= made["high"] + 0.1).all()
    for i, (x, y, wide, high) in enumerate(boxes):  # none lies over another
        apart_x = np.abs(boxes[:, 0] - x) >= np.minimum(boxes[:, 2], wide) - 0.1
        apart_y = np.abs(boxes[:, 1] - y) >= np.minimum(boxes[:, 3], high) - 0.1
        assert np.delete(apart_x | apart_y, i).all()


def test_an_episode_of_rounded_chances_is_drawn() -> None:
    P, first = np.full((2, 2, 2, 2), 0.5), np.array([1.0, 0.0])
    chances = np.full((2, 2, 2), 0.4999999)
    drawn = [
        episode(P, first, np.zeros((2, 2), int), np.random.default_rng(i), chances)[1] for i in range(20)
    ]
    assert {action for actions in drawn for action in actions} == {0, 1}


@pytest.mark.parametrize(
    ("curve", "said"),
    [
        ("envp.S.3~envp.H.3~K.1000~seeds.1", ""),
        ("env.random~envp.S.30~envp.A.2~envp.H.2~K.1000~seeds.1", "too many states to draw"),
    ],
)
def test_it_stands_below_the_chart_or_it_is_said_why_not(finished: Visit, curve: str, said: str) -> None:
    app = finished("explore", c=[curve])
    assert "One user, step by step" in [part.label for part in app.expander]
    app.session_state["learner"] = True
    app.run()
    assert ("too many states" in words(app)) == bool(said)


def test_users_of_the_best_policy_fill_states_as_they_do_on_average() -> None:
    mdp = ENVIRONMENTS["clinic"].make()
    made, best, h = best_content(mdp), planning.optimum(mdp).policy, np.arange(mdp.H)
    visits = planning.occupancy(mdp, best).sum(0)
    top = np.log1p(visits.max() * 10**6)
    assert made["moments"][-1]["fills"] == pytest.approx(np.log1p(visits * 10**6) / top, abs=1e-3)
    for moment in made["moments"]:
        (way,) = moment["ways"]
        s, a = possible(way, mdp)
        assert (a == best[h, s]).all()
        assert moment["ticks"] is None
        assert "followed the best policy" in moment["lost"]
