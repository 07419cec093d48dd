"""Explore's tabs and charts, in every state."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest

from dprl.runs.store import Store
from dprl.simulation import RunSpec
from pages.shared.names import kinds
from pages.shared.visitor.links import Curve, View, fields_of
from tests.pages.conftest import Visit, Work, charts, go, widget, words
from tests.pages.test_pages import PRIVATE, SMALL, SPEC
from tests.problems import first


def warned(app: AppTest) -> str:
    """What stands in warnings."""
    return " ".join(str(warning.value) for warning in app.warning)


def test_explore_warns_where_the_price_of_privacy_says_nothing(visit: Visit, work: Work) -> None:
    found = {}
    for bonus, K in (("anytime", "1e6"), ("paper", "1000")):
        curves = [f"envp.S.3~envp.H.3~K.{K}~seeds.2~eps.100~bonus.{bonus}", "priv.none"]
        visit("explore", c=curves)
        work()
        found[bonus] = warned(visit("explore", c=curves, m="extra"))
    assert found["anytime"] == ""
    assert "Without privacy, the algorithm did not find the best policy in 2 of 2 seeds" in found["paper"]


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


def test_a_view_beyond_the_run_shows_the_nearest_there_is(visit: Visit, work: Work) -> None:
    visit("explore", c=[PRIVATE])
    work()
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
    picture = saved(visit("explore", c=[PRIVATE]))
    assert (picture["format"], picture["scale"], picture["filename"]) == ("png", 3, "regret")
    assert "RiverSwim (S = 3, H = 3" in str(picture["footer"])
    app.segmented_control(key="saves").set_value("svg").run()
    go(app, "home")
    picture = saved(app)
    assert (picture["format"], picture["scale"]) == ("svg", 1)


def saved(app: AppTest) -> dict[str, object]:
    """What the camera of the only chart is set to."""
    (chart,) = charts(app)
    options: dict[str, object] = json.loads(chart.config)["toImageButtonOptions"]
    return options


def test_environments_are_told_apart_by_dashes() -> None:
    specs = [RunSpec("riverswim"), RunSpec("chain"), RunSpec("clinic"), RunSpec("riverswim", privacy="local")]
    first, second, third, again = (look.dash for look in kinds(list(map(Curve, specs))))
    assert first == again == "solid"
    assert len({first, second, third}) == 3
