"""Explore's tabs and charts, in every state, and the look of a run wherever it is drawn."""

from __future__ import annotations

import base64
import json
import re

import pytest

from dprl.figures import looks, style
from dprl.learners import ALGORITHMS
from dprl.privacy import PRIVATIZERS
from dprl.runs.store import Store
from dprl.simulation import RunSpec
from dprl.simulation.pairs import calibrations_for
from pages.shared.names import kinds
from pages.shared.visitor.links import Curve, View, fields_of
from tests.pages.conftest import Visit, Work, charts, go, legend, widget, words
from tests.pages.test_pages import PRIVATE, SMALL, SPEC
from tests.problems import first


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
