"""Explore's tabs and charts, in every state."""

from __future__ import annotations

import json
import re
from itertools import cycle, product
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dprl.runs.store import Store
from pages.shared.results import answers
from pages.shared.visitor.links import View
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


def test_counts_of_every_family_as_seen(visit: Visit, work: Work) -> None:
    curves = [PRIVATE, "priv.shuffle", "alg.pucb~bonus.paper"]
    visit("explore", c=curves)
    work()
    seen_and_curves = product(fields_of(View)["seen"].choices, enumerate(curves))
    for (seen, (i, curve)), family in zip(
        seen_and_curves, cycle(fields_of(View)["family"].choices), strict=False
    ):
        app = visit("explore", c=curves, tab="counts", i=str(i), see=seen, of=family, k="10", h="1")
        (shown,) = charts(app)
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
            "Heatmaps of how likely each action is",
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
    assert not drawn.alt.startswith("Heatmaps of how likely each action is")  # it takes one


def test_a_view_beyond_the_run_shows_the_nearest_there_is(visit: Visit, work: Work) -> None:
    visit("explore", c=[PRIVATE])
    work()
    for tab in ("counts", "policy"):
        app = visit("explore", c=[PRIVATE], tab=tab, seed="99", h="900", pol="map")
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
    for measure, shown in (("per-episode", 1), ("extra", 0), ("share", 1)):
        widget(app, "segmented_control", "Regret shown").set_value(measure).run()
        assert len(app.dataframe) == shown, measure
    app.session_state["regret:about"] = False
    app.run()
    for measure in ("extra", "cumulative"):
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
