"""Explore's tabs and charts, in every state."""

from __future__ import annotations

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dprl.figures.looks import CurveStyle
from dprl.runs.store import Store
from dprl.simulation import RunSpec, run
from pages.explore import pulls
from pages.shared.results import data
from pages.shared.visitor.links import Curve, View
from pages.shared.visitor.views import fields_of
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
    assert "Without privacy the algorithm has not found the best policy in 2 of 2 seeds" in found["paper"]


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


@pytest.mark.parametrize("chart", fields_of(View)["chart"].choices)
def test_every_chart_of_counts(finished: Visit, chart: str) -> None:
    (shown,) = charts(finished("explore", c=[PRIVATE], tab="counts", ch=chart, of="rewards", h="1"))
    assert "reward" in shown.spec.lower() or chart not in ("map", "scatter")


@pytest.mark.parametrize("learner", ["riverswim", "gridworld", "gridworld~alg.private-ucb-po"])
def test_every_chart_of_the_policy(finished: Visit, visit: Visit, learner: str) -> None:
    """Chances are drawn of a stochastic policy alone."""
    curve = f"env.{learner}~envp.H.4~K.1000~seeds.1~eps.100"
    finished("explore", c=[curve])
    for chart in fields_of(View)["drawn"].choices:
        (drawn,) = charts(visit("explore", c=[curve], tab="policy", pol=chart, h="1"))
        if chart == "chances":
            assert drawn.alt.startswith("Heatmaps of how likely each action is") == ("alg" in learner)


def test_no_mistake_is_larger_than_all_there_is_to_lose(visit: Visit, work: Work) -> None:
    curve = "envp.S.6~envp.H.20~K.1000~seeds.1~eps.100"
    visit("explore", c=[curve])
    work()
    found = data.trace(RunSpec(episodes=1000, seeds=1, epsilon=100.0), 0)
    assert found is not None
    assert found.pac_alpha.max() > found.v_star  # RiverSwim's best state is worth more than its start
    app = visit("explore", c=[curve], m="pac")
    (chart,) = charts(app)
    drawn = json.loads(chart.spec)["layout"]["xaxis"]["ticktext"]
    assert 1 < max(map(float, drawn)) < found.v_star


def test_stages_are_shown_for_learners_that_have_them(finished: Visit, visit: Visit) -> None:
    curves = ["env.random~envp.S.2~envp.A.2~envp.H.2~alg.apeve~K.100000~seeds.1", "alg.ucbvi"]
    (chart,) = charts(finished("explore", c=curves, tab="policy", pol="stages"))
    assert chart.alt.startswith("Line charts over the stages")
    app = finished("explore", c=[curves[0] + "~alg.apeve-relaxed"], tab="policy", pol="stages")
    assert charts(app)[0].alt == chart.alt
    assert "the best policy is estimated to earn" in words(app)
    (other,) = charts(visit("explore", c=curves, tab="policy", pol="stages", i="1"))
    assert not other.alt.startswith("Line charts over the stages")


def test_a_view_beyond_the_run_shows_the_nearest_there_is(visit: Visit, work: Work) -> None:
    visit("explore", c=[PRIVATE])
    work()
    for tab in ("counts", "policy"):
        app = visit(
            "explore", c=[PRIVATE], tab=tab, seed="99", h="900", s="200", a="50", ch="cell", pol="map"
        )
        assert len(charts(app)) == 1


def test_numbers_that_were_opened_stay_open_in_another_measure_and_after_one_without_a_chart(
    finished: Visit,
) -> None:
    app = finished("explore", c=[PRIVATE])
    app.session_state["regret:about"] = True
    app.run()
    for measure, shown in (("pac", 1), ("extra", 0), ("share", 1)):
        widget(app, "segmented_control", "Regret shown").set_value(measure).run()
        assert len(app.dataframe) == shown, measure
    app.session_state["regret:about"] = False
    app.run()
    for measure in ("extra", "cumulative", "pac"):
        widget(app, "segmented_control", "Regret shown").set_value(measure).run()
        assert len(app.dataframe) == 0, measure


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
    assert charts(app)[0].alt.startswith("Line chart of the regret that privacy adds")


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


def test_pulls_of_bad_arms_are_shown_on_the_hard_instances_only(finished: Visit, visit: Visit) -> None:
    hard = (
        "env.hard-jdp~envp.n.2~envp.m.2~envp.seed.1~alg.pucb~mech.laplace-tree~delta.0~eps.1~K.3000~seeds.2"
    )
    curves = [hard, "mech.gaussian-tree~delta.1e-06", "priv.none~alg.ucbvi", "env.riverswim~alg.ucbvi"]
    app = finished("explore", c=curves, tab="counts", ch="pulls")
    (chart,) = charts(app)
    assert chart.alt.startswith("Line chart of the mean pulls of a bad arm")
    drawn = json.loads(chart.spec)["data"]
    assert len({trace["legendgroup"] for trace in drawn if "legendgroup" in trace}) == 3  # all but RiverSwim
    assert sum(trace["name"].startswith("lower bound") for trace in drawn) == 1
    said = words(app)
    assert "context, not a test" in said
    assert "δ = 1×10⁻⁶ is proved for its noise, not 0" in said
    assert "it guarantees no privacy" in said
    (other,) = charts(visit("explore", c=curves, tab="counts", ch="pulls", i="3"))
    assert not other.alt.startswith("Line chart of the mean pulls")


def test_pulls_of_seeds_that_release_at_times_of_their_own() -> None:
    spec = RunSpec(environment="hard-jdp", environment_params={"seed": 1}, bonus="anytime", schedule="adaptive",
                   episodes=10**6, seeds=4)  # fmt: skip
    seeds = run(spec).seeds
    assert len({tuple(seed.detail_episodes) for seed in seeds}) > 1  # or nothing is tested
    found = pulls.pulls_series(Curve(spec), CurveStyle("central", 1.0), "run", seeds)
    s, a = np.array(pulls.bad_arms(seeds[0])).T
    each = [np.interp(found.mean.x, t.detail_episodes, t.counts[:, 0, s, a, -2].mean(1)) for t in seeds]
    np.testing.assert_allclose(found.mean.center[3:], np.mean(each, 0)[3:])
    assert found.mean.x[-1] == spec.episodes


def test_no_bad_arm_is_said(finished: Visit) -> None:
    curve = "env.hard-jdp~envp.alpha.0~K.100~seeds.1"
    app = finished("explore", c=[curve], tab="counts", ch="pulls")
    assert charts(app) == []
    assert "all arms are equally good" in words(app)
