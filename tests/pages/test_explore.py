"""Explore's tabs and charts, in every state."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import cycle, product
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dprl.figures.looks import CurveStyle
from dprl.runs.store import Store
from dprl.simulation import RunSpec, run
from pages.explore import pulls
from pages.shared.results import answers, data
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


@pytest.mark.parametrize("measure", first(fields_of(View)["measure"].choices))
def test_explore_draws_means_or_medians_and_says_which(finished: Visit, visit: Visit, measure: str) -> None:
    curves = [f"{SMALL}~eps.100", "priv.none"]
    app = finished("explore", c=curves, m=measure)
    assert "Numbers are means over seeds" in words(app)
    choice = next(b for b in app.segmented_control if ":view:statistic:" in str(b.key))
    choice.set_value("median").run()
    assert app.session_state["session"].explore.query.endswith("&stat=median")
    assert "Numbers are medians over seeds. A median has a 95% interval from 6 seeds on." in words(app)
    (chart,) = charts(app)
    assert "median over 2 seeds" in chart.spec
    (opened,) = charts(visit("explore", c=curves, m=measure, stat="median"))
    assert opened.spec == chart.spec


@pytest.mark.parametrize(
    "curve", first([PRIVATE, f"{SMALL}~priv.none", f"{PRIVATE}~priv.local", f"{PRIVATE}~priv.shuffle"])
)
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


@pytest.mark.parametrize("chart", first(fields_of(View)["chart"].choices, ("map", "scatter").__contains__))
def test_every_chart_of_counts(visit: Visit, work: Work, chart: str) -> None:
    curves = [PRIVATE, "priv.shuffle", "alg.pucb~bonus.paper"]
    visit("explore", c=curves)
    work()
    seen_and_curves = product(fields_of(View)["seen"].choices, enumerate(curves))
    for (seen, (i, curve)), family in zip(
        seen_and_curves, cycle(fields_of(View)["family"].choices), strict=False
    ):
        app = visit(
            "explore",
            c=curves,
            tab="counts",
            i=str(i),
            ch=chart,
            see=seen,
            of=family,
            k="10",
            h="1",
            s="2",
            a="1",
        )
        (shown,) = charts(app)
        if chart in ("map", "scatter"):
            told = seen if "pucb" not in curve else "noisy"  # which plans with the noisy counts themselves
            assert f"{told.capitalize()}" in shown.spec
            assert ("reward" in shown.spec.lower()) == (family == "rewards")


@pytest.mark.parametrize(
    "environment",
    first(
        ["riverswim", "gridworld", "random", "chain", "clinic", "hard-jdp", "custom", "gymnasium"],
        "gridworld".__eq__,
    ),
)
def test_every_chart_of_the_policy(finished: Visit, visit: Visit, environment: str) -> None:
    curve = f"env.{environment}~envp.H.4~K.1000~seeds.1~eps.100"
    finished("explore", c=[curve])
    for chart in fields_of(View)["drawn"].choices:
        assert len(charts(visit("explore", c=[curve], tab="policy", pol=chart, h="1"))) == 1, chart


def test_on_the_map_only_states_are_counted_that_the_policy_can_be_in(finished: Visit) -> None:
    curve = f"env.riverswim~{PRIVATE}"
    app = finished("explore", c=[curve], tab="policy", pol="map", h="0")
    assert re.search(
        r"At step 0 the policy can be in 1 of \d states\. There the policy chooses .* in 1 of these states\. "
        r"The optimal policy does better in (none|1) of",
        words(app),
    )
    (chart,) = charts(app)
    names = [trace.get("name") for trace in json.loads(chart.spec)["data"]]
    assert "never here at this step" in names


def test_a_stochastic_policy_is_drawn_by_its_chances(visit: Visit, work: Work) -> None:
    curves = ["env.gridworld~envp.H.4~alg.private-ucb-po~K.1000~seeds.1~eps.100", "alg.dp-ucbvi"]
    app = visit("explore", c=curves, i="0")
    (menu,) = [one for one in app.selectbox if one.label == "Algorithm"]
    assert "a block of b users by b steps at once" in menu.help
    work()
    for chart, shown, said in (
        (
            "chances",
            "Heatmaps of the chance of each action",
            "The policy takes the optimal action with chance",
        ),
        ("steps", "Heatmaps of the action taken", "The likeliest action is worse"),
        ("map", "Drawing of a grid with an arrow", "likeliest action is"),
        ("V", "Heatmaps of the value", "above the value of the policy played"),
    ):
        app = visit("explore", c=curves, i="0", tab="policy", pol=chart, h="1")
        (drawn,) = charts(app)
        assert drawn.alt.startswith(shown)
        assert said in words(app)
        labels = [link.proto.label for link in app.get("page_link")]
        assert "Learn offline from users who take this policy's likeliest actions" in labels
    (drawn,) = charts(visit("explore", c=curves, i="1", tab="policy", pol="chances"))
    assert not drawn.alt.startswith("Heatmaps of the chance of each action")  # it takes one


def test_mistakes_are_a_view_of_regret(visit: Visit, work: Work) -> None:
    app = visit("explore", c=[PRIVATE, "priv.none"], m="pac")
    assert charts(app) == []
    work()
    (chart,) = charts(visit("explore", c=[PRIVATE, "priv.none"], m="pac"))
    assert chart.alt.startswith("Line chart of the number of episodes that were more than alpha suboptimal")
    assert "episodes that were more than" in words(visit("explore", c=[PRIVATE], m="pac"))


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


def test_where_nothing_that_is_counted_can_be_lost_it_is_said(
    visit: Visit, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    visit("explore", c=[PRIVATE])
    work()
    read = data.trace

    def of_a_poor_start(spec: RunSpec, seed: int) -> Any:
        found = read(spec, seed)
        return None if found is None else replace(found, pac_alpha=1000 * found.pac_alpha)

    monkeypatch.setattr(data, "trace", of_a_poor_start)
    app = visit("explore", c=[PRIVATE], m="pac")
    assert charts(app) == []
    assert "can lose as much as the smallest α that is counted" in words(app)


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


def test_numbers_stand_beside_every_chart(finished: Visit) -> None:
    app = finished("explore", c=[PRIVATE])
    assert len(app.dataframe) == 0  # not sent before it is asked for
    app.session_state["regret:about"] = True
    app.run()
    assert list(app.dataframe[0].value.columns)[:2] == ["curve", "episodes"]


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


def test_it_is_said_why_regret_is_drawn_where_a_share_was_asked_for(
    visit: Visit, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    link: dict[str, Any] = {"c": ["envp.S.3~envp.H.3~K.1000~seeds.1"], "m": "share"}
    visit("explore", **link)
    work()
    assert "regret per episode" not in words(visit("explore", **link))
    for value, said in ((None, "V\\* is being computed"), (0.0, "V\\* is 0 here")):
        monkeypatch.setattr(answers, "v_star", lambda spec, value=value: value)
        app = visit("explore", **link)
        assert said in words(app) or said.replace("\\", "") in words(app)
        assert charts(app)[0].alt.startswith("Line chart of average regret per episode")
