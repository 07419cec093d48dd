"""The page Trade-offs: what a visitor sees at first, runs, presses, copies."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dprl.learners import ALGORITHMS
from dprl.privacy.privatizers import shuffle
from dprl.runs.store import Store
from dprl.simulation import RunSpec, online
from dprl.words import human
from pages.shared.layout.frame import CRASHED
from pages.shared.results import data
from pages.tradeoffs import charts as charts_of
from pages.tradeoffs import state as trade
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import SweepView
from tests.pages.conftest import (
    Visit,
    Work,
    charts,
    grouped,
    marked,
    names,
    plain,
    press,
    widget,
    words,
)
from tests.problems import first, home
from tests.runs import slots

PAGE = "tradeoffs"
SMALL_MIXTURE = {"d": 2, "S": 2, "H": 2}
SMALLEST = {"S": 2, "A": 2, "H": 2}
SMALL = SweepView(
    RunSpec(environment_params={"S": 3, "H": 3}, episodes=10**6, seeds=3),
    ("none", "central", "local"),
    "epsilon",
    (1.0, 10.0, 100.0),
)


def shown(app: AppTest) -> Any:
    """The choice of what is drawn."""
    return next(each for each in app.segmented_control if str(each.key).endswith(":show"))


def query(study: SweepView) -> dict[str, Any]:
    return grouped(studies.encode(study))


@pytest.mark.parametrize("show", ["price", "share"])
def test_a_sweep_is_taken_along_with_a_stop_for_each_value(visit: Visit, show: str) -> None:
    study = replace(studies.DEFAULT, show=show)
    visit(PAGE, **query(study))
    picture = charts_of.picture_of(study, trade.frontiers(study), [])
    page = charts_of.taken_along(study, picture, "", "")
    (found,) = re.findall(r'id="content">(.*?)</script>', page)
    cells = json.loads(found)["cells"]
    assert len(cells) == len(study.values)
    at = study.values.index(10)
    spec = dict(study.points("central"))[10]
    mean = float(
        trade.price(spec).mean() if show == "price" else (trade.ends(spec) / trade.worst_of(spec)).mean()
    )
    assert cells[at][show == "share"][:2] == ["Central (JDP)", human(mean)]


@pytest.mark.parametrize("show", studies.SHOWS)
def test_the_first_view_is_finished_and_computes_nothing(visit: Visit, store: Store, show: str) -> None:
    app = visit(PAGE, **query(replace(studies.DEFAULT, show=show)))
    assert app.get("progress") == []
    assert store.activity().seeds_queued == 0
    (chart,) = charts(app)
    assert chart.alt.startswith("Chart of")


@pytest.mark.parametrize("words_", first(studies.questions(studies.DEFAULT.base)))
def test_a_question_is_one_press_and_is_answered_at_once(visit: Visit, store: Store, words_: str) -> None:
    app = visit(PAGE)
    (pills,) = (each for each in app.pills if words_ in each.options)
    assert len(pills.options) == 6
    pills.set_value(words_).run()
    assert (
        app.session_state["session"].part(trade.SweepPageState).study
        == studies.questions(studies.DEFAULT.base)[words_]
    )
    assert charts(app)
    assert store.activity().seeds_queued == 0
    assert app.get("progress") == []


def test_a_question_is_about_what_the_settings_describe(visit: Visit) -> None:
    app = visit(PAGE)
    widget(app, "selectbox", "Environment").select("chain").run()
    (pills,) = (each for each in app.pills if "More states?" in each.options)
    pills.set_value("More states?").run()
    study = app.session_state["session"].part(trade.SweepPageState).study
    assert (study.base.environment, study.x) == ("chain", "S")


def test_when_privacy_is_free_is_said_of_all_models(visit: Visit) -> None:
    study = studies.questions(studies.DEFAULT.base)["When is privacy free?"]
    app = visit(PAGE, **query(study))
    said = words(app)
    assert (
        "At 10¹⁵ users the privacy cost no longer grows with **Central (JDP)** and **Shuffle (SDP)**. "
        "The privacy cost still grows at 10¹⁵ users with **Local (LDP)**." in said
    )
    assert "**Central (JDP)**: no growth after" in said
    drawn = names(app)
    for title in ("No privacy", "Central (JDP)", "Shuffle (SDP)", "Local (LDP)"):
        assert any(name.startswith(title) for name in drawn), drawn
    last = {title: steps[-1] for title, steps in trade.growth(study).items()}
    assert last["Central (JDP)"].high <= 0.1
    assert last["Local (LDP)"].low > 0.1


def test_bounds_are_drawn_on_demand(visit: Visit) -> None:
    study = studies.questions(studies.DEFAULT.base)["When is privacy free?"]
    app = visit(PAGE, **query(study))
    assert not any(name.startswith("proved:") for name in names(app))
    widget(app, "toggle", "Proved bounds").set_value(True).run()
    assert app.query_params["bounds"] == "on"
    assert {name for name in names(app) if name.startswith("proved:")} == {
        "proved: Lower bound, No privacy", "proved: DP-UCBVI, Central (JDP)",
        "proved: SDP-PE, Shuffle (SDP)", "proved: DP-UCBVI, Local (LDP)",
    }  # fmt: skip
    said = words(app)
    assert "compare slopes, not heights" in said
    assert "**DP-UCBVI, Local (LDP):** at most Õ(√(SAH³K) + S²AH³√K/ε) (Qiao, Wang 2023" in said
    assert "Not met here: proved for ε below 1." in said
    lines, _ = charts_of.proved(replace(study, bounds="on", show="price"))
    assert [line.model for line in lines] == ["central", "shuffle", "local"]
    np.testing.assert_allclose(lines[0].values, 36 * 2 * 8000)  # S²AH³/ε, whatever K is
    assert charts_of.proved(replace(study, bounds="on", base=study.base.replace(contribution=3))) == ([], ())


def test_the_lines_of_mechanisms_are_told_apart_without_their_markers() -> None:
    """All were solid in the blue of a trusted curator."""
    found = trade.kinds_of(studies.questions(studies.DEFAULT.base)["Which mechanism?"])
    drawn = list(found.values())
    assert len(drawn) >= 5
    assert len({look.dash for look in drawn}) == len(drawn)
    assert len({look.symbol for look in drawn}) == len(drawn)


def test_what_the_first_view_says(visit: Visit) -> None:
    """The issue of this page: slopes with intervals, order of epsilon, and the users each mechanism needs."""
    said = words(visit(PAGE, **query(studies.DEFAULT)))
    assert "halving ε multiplies the cost by 1." in said
    assert "Holm-corrected" in said
    app = visit(PAGE, **query(replace(studies.DEFAULT, show="users")))
    said = words(app)
    assert "optimal factorisation** needs the fewest users, 18.3 million. **Local, Laplace, only " in said
    assert "reports of who played** needs 32,400 times as many (" in said
    app.session_state["users:about"] = True  # opened
    app.run()
    (table,) = (d.value for d in app.dataframe if "times the fewest" in d.value.columns)
    times = table.set_index("model")["times the fewest"]
    assert times["Central, Laplace tree, as in the paper, scaled until ε is proved"] == pytest.approx(
        463, rel=0.01
    )
    assert times["Central, Laplace tree"] == pytest.approx(6.12, rel=0.01)
    assert times["Local, One-hot questions, only reports of who played"] == pytest.approx(2267, rel=0.01)


@pytest.mark.thorough
@pytest.mark.parametrize("show", ["price", "share"])
def test_means_and_medians_are_both_offered(visit: Visit, show: str) -> None:
    app = visit(PAGE, **query(replace(studies.DEFAULT, show=show)))
    said = "Numbers are means over seeds."
    assert said in words(app)
    choice = next(b for b in app.segmented_control if str(b.key).endswith(":statistic"))
    choice.set_value("median").run()
    assert app.query_params["stat"] == "median"
    assert said.replace("means", "medians") in words(app)
    curve = trade.frontiers(replace(studies.DEFAULT, show=show, statistic="median"))[-1]
    runs = [spec for _, spec in studies.DEFAULT.points("local")]
    rows = [
        trade.price(spec) if show == "price" else trade.ends(spec) / trade.worst_of(spec) for spec in runs
    ]
    np.testing.assert_allclose(curve.center, np.median(rows, axis=1))
    (chart,) = charts(app)
    assert "95% interval of the median over seeds" in chart.spec


@pytest.mark.thorough
@pytest.mark.parametrize("show", ["price", "share"])
def test_what_points_do_not_say_is_said(
    visit: Visit, work: Work, monkeypatch: pytest.MonkeyPatch, show: str
) -> None:
    assert [w.value for w in visit(PAGE, **query(replace(studies.DEFAULT, show=show))).warning] == []
    study = replace(SMALL, base=SMALL.base.replace(bonus="paper", episodes=1000), show=show)
    visit(PAGE, **query(study))
    work()
    (warning,) = visit(PAGE, **query(study)).warning
    assert "Without privacy the algorithm has not found the best policy in 3 of 3 seeds" in warning.value
    # were the run without privacy to lose more
    ends = trade.ends
    monkeypatch.setattr(trade, "ends", lambda spec: ends(spec) + 1e6 * (spec.privacy == "none"))
    (warning,) = visit(PAGE, **query(study)).warning
    said = plain(warning.value)
    assert (
        "The whole 95% interval of the mean privacy cost is below zero for these: Central (JDP) at ε = 1, "
        in said
    )
    assert "and 3 more. There the run without privacy lost more" in said


def test_a_link_starts_what_is_missing_and_a_second_visitor_waits_for_nothing(
    visit: Visit, work: Work, store: Store
) -> None:
    app = visit(PAGE, **query(SMALL))
    assert "7 runs" in words(app)
    assert store.activity().seeds_queued == 7 * 3
    assert "The first points appear in a moment" in words(app)
    work(6)
    app.run()
    assert "6 of 21 seeds finished" in words(app).replace("**", "")
    assert charts(app)
    assert work() == 15
    app.run()
    assert app.get("progress") == []
    assert not any("halving" in name for name in names(app))
    second = visit(PAGE, **query(SMALL))
    assert second.get("progress") == []
    assert names(second) == names(app)
    assert store.activity().seeds_queued == 0


def test_one_button_cancels_all(visit: Visit, store: Store) -> None:
    app = visit(PAGE, **query(SMALL))
    press(app, "cancel")
    assert store.activity().seeds_queued == 0
    assert "7 runs of 7 not computed" in words(app)
    app.button(key="begin").click().run()
    assert store.activity().seeds_queued == 21


def test_a_failed_run_is_said_and_can_be_tried_again(visit: Visit, store: Store) -> None:
    app = visit(PAGE, **query(SMALL))
    slots.work(store, slots.failing("Seed 0 failed: <b>no</b> memory."))
    app.run()
    assert "7 runs failed" in words(app)
    assert "<b>" not in marked(app)
    app.button(key="retry").click().run()
    assert store.activity().seeds_queued == 21


def test_run_shows_the_study_of_the_controls(visit: Visit, store: Store, work: Work) -> None:
    app = visit(PAGE, **query(SMALL))
    work()
    app.run()
    values = widget(app, "text_input", "Values")
    assert values.value == "1, 10, 100"
    values.set_value("1, 10, 1000").run()
    assert store.activity().seeds_queued == 0  # not before Run
    press(app, "run")
    assert store.activity().seeds_queued == 2 * 3
    assert "1,10,1000" in app.query_params["at"]


def test_the_price_of_users_who_return_is_drawn(visit: Visit, work: Work) -> None:
    study = SweepView(SMALL.base, ("none", "central"), "contribution", (1, 30), show="regret")
    app = visit(PAGE, **query(study))
    work()
    app.run()
    (chart,) = charts(app)
    assert "Most episodes of one user m" in chart.spec
    once, often = (trade.ends(spec).mean() for _, spec in study.points("central"))
    assert often > once
    assert len({spec for _, spec in study.points("none")}) == 1  # without privacy nobody asks how often


def test_episodes_of_one_user_are_asked_for_once(visit: Visit) -> None:
    """Among the values of the axis, or in a field of their own."""
    field = "Most episodes of one user"

    def asked() -> bool:
        return field in {each.label for each in app.text_input}

    app = visit(PAGE)
    assert asked()
    widget(app, "selectbox", "Horizontal axis").set_value("contribution").run()
    assert not asked()
    assert widget(app, "text_input", "Values").value.startswith("1, 2, 3")


@pytest.mark.thorough
def test_users_are_searched_for_run_by_run(visit: Visit, store: Store, work: Work) -> None:
    study = replace(SMALL, base=SMALL.base.replace(seeds=2), models=("central",), show="users", share=50.0)
    app = visit(PAGE, **query(study))
    rounds = 0
    while store.activity().seeds_queued and rounds < 40:
        work()
        app.run()
        rounds += 1
    assert 1 <= rounds < 40
    assert app.get("progress") == []
    assert "times as many" in words(app)
    (chart,) = charts(app)
    assert "Toeplitz" in chart.spec


def test_another_chart_keeps_the_study(visit: Visit, work: Work) -> None:
    app = visit(PAGE, **query(SMALL))
    work()
    app.run()
    shown(app).set_value("regret").run()
    assert app.query_params["show"] == "regret"
    assert any(name.startswith("No privacy") for name in names(app))


def test_points_that_cannot_be_run_say_why(visit: Visit) -> None:
    app = visit(PAGE, **query(replace(SMALL, x="S", values=(3, 300))))
    assert "Left out" in words(app)
    assert "counters" in words(app)


def test_what_cannot_be_run_stands_below_the_models_not_in_the_box_that_lies_over_the_settings(
    visit: Visit,
) -> None:
    app = visit(PAGE, **query(replace(SMALL, x="S", values=(3, 300))))
    parts = list(app.sidebar)
    order = [
        next(i for i, part in enumerate(parts) if said in str(getattr(part, name, "")))
        for name, said in (("label", "Compare"), ("value", "Left out"), ("label", "Horizontal axis"))
    ]
    assert order == sorted(order)


PURE = "delta: 0 does not go with mechanism binomial-sum; give a number above 0."
TINY = "delta: 1e-19 is too small to be accounted for with random bits; give at least 1e-18."
EARNS_NOTHING = '{"P": [[[1, 0], [0, 1]], [[0, 1], [1, 0]]], "R": [[0, 0], [0, 0]], "d1": [1, 0]}'
ONE_ACTION = '{"P": [[[0.5, 0.5]], [[0.2, 0.8]]], "R": [[0.5], [1]], "d1": [1, 0]}'
HARD = SMALL.base.replace(episodes=1000, seeds=2)
EXACT = HARD.replace(mechanism=None, delta=0.0)


def world(model: str) -> RunSpec:
    return RunSpec(environment="custom", environment_params={"model": model, "H": 3}, episodes=1000, seeds=2)


SCALED = "Central, Laplace tree, as in the paper, scaled until ε is proved"
CORNERS = {  # a study, what is left out of its chart, and what is said of the users needed
    "delta 0": (
        SweepView(EXACT, values=(1.0, 10.0)),
        f"Left out of **Shuffle (SDP)**: {PURE}",
        f"Left out of **Shuffle, Shuffled bits**: {PURE}",
    ),
    "delta 0, and nothing left": (SweepView(EXACT, ("shuffle",)), f"Left out: {PURE}", "None of this can be run"),
    "delta 1e-19": (SweepView(HARD.replace(delta=1e-19)), f"Left out of **Shuffle (SDP)**: {TINY}", TINY),
    "the least epsilon": (
        SweepView(HARD.replace(epsilon=0.001), values=(0.001, 10_000.0)),
        "",
        f"Left out of **{SCALED}**: epsilon: 0.0005 is not allowed; give a number from 0.001 to 10000.",
    ),
    "one seed": (SweepView(HARD.replace(seeds=1)), "", "One seed has no interval."),
    "one user": (SweepView(HARD, ("none", "local"), "episodes", (1, 2)), "", "only reports of who played** needs"),
    "one action": (SweepView(world(ONE_ACTION)), "", "need at most 100 users, the fewest that we tried."),
    "nothing to earn": (SweepView(world(EARNS_NOTHING)), "", "there is nothing to lose."),
    "planning after every user": (
        SweepView(HARD.replace(schedule="episodic"), ("central",), "episodes", (1000, 10**7)),
        "Left out: episodes: 1e+07 is too many for the episodic schedule; give at most 10^6, or",
        "Left out of **Central, Gaussian, Toeplitz factorisation**: schedule: gaussian-toeplitz keeps noise for every",
    ),
}  # fmt: skip


def lost(spec: RunSpec) -> np.ndarray:
    """Regret as it might be, the same in every seed but for a little."""
    private = spec.epsilon is not None and data.environment(spec).A > 1
    price = (1e4 if spec.privacy == "local" else 100) / spec.epsilon if private and spec.epsilon else 0.0
    regret = online.v_star(spec) * min(spec.episodes, spec.episodes**0.5 + price)
    rows: np.ndarray = regret * (1 + 0.01 * np.arange(spec.seeds))
    return rows


@pytest.mark.thorough
@pytest.mark.parametrize("corner", first(CORNERS))
def test_what_cannot_be_run_is_said_and_the_rest_drawn(
    visit: Visit, monkeypatch: pytest.MonkeyPatch, corner: str
) -> None:
    monkeypatch.setattr(trade, "ends", lost)
    study, left_out, of_users = CORNERS[corner]
    app = visit(PAGE, **query(replace(study, share=50.0)))
    for show in ("price", "regret", "share", "users"):
        shown(app).set_value(show).run()
        said = words(app)
        assert (of_users if show == "users" else left_out) in said
        assert ("Left out" in said) == (left_out != "" or (show == "users" and "Left out" in of_users))
        assert app.button(key="run")
    if study.base.seeds == 1:
        assert not re.search(r"times as many \(", said)


@pytest.mark.thorough
def test_an_error_is_not_repeated_by_the_redrawing(
    visit: Visit, work: Work, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    begun = []
    fragment = st.fragment

    def noted(part: Any = None, *, run_every: Any = None) -> Any:
        begun.append(run_every)
        return fragment(part, run_every=run_every)

    monkeypatch.setattr(st, "fragment", noted)
    app = visit(PAGE, **query(SMALL))
    assert begun[-1] is not None  # it goes on by itself

    def broken(*_: Any) -> Any:
        raise RuntimeError("a fault")

    with monkeypatch.context() as patch:
        patch.setattr(trade, "frontiers", broken)
        app.fails = True
        app.run()
        assert begun[-1] is None  # it stands still, said once
        assert [e.value for e in app.error] == [CRASHED]
        assert len([one for one in caplog.records if one.message == "A page failed"]) < 4
        assert app.segmented_control  # with its controls
    app.fails = False
    app.run()
    assert begun[-1] is not None


@pytest.mark.thorough
@pytest.mark.parametrize("environment", first(["chain", "gridworld", "clinic", "hard-jdp", "random"]))
def test_other_environments(visit: Visit, work: Work, environment: str) -> None:
    base = RunSpec(environment=environment, episodes=500, seeds=2)
    study = SweepView(base, ("none", "central"), "epsilon", (1.0, 10.0))
    app = visit(PAGE, **query(study))
    work()
    app.run()
    assert charts(app)


@pytest.mark.thorough
@pytest.mark.parametrize("algorithm", first(ALGORITHMS))
def test_every_algorithm(visit: Visit, work: Work, monkeypatch: pytest.MonkeyPatch, algorithm: str) -> None:
    """With about as many bits as are needed: to account for them takes seconds, and changes no sentence."""
    monkeypatch.setattr(
        shuffle,
        "least_bits",
        lambda *given: (math.ceil(4 * shuffle.guessed(*given)), shuffle.guessed(*given)),
    )
    where = home(algorithm)
    params = (
        SMALLEST if where == "random" else {"stages": 1, "H": 3} if where == "linear-mdp" else SMALL_MIXTURE
    )
    base = RunSpec(algorithm=algorithm, environment=where, environment_params=params, episodes=2000, seeds=2)
    study = SweepView(base, studies.usual_models(base), "epsilon", (10.0, 100.0), share=50.0)
    app = visit(PAGE, **query(study))
    private = study.models != ("none",)
    for show in ("price", "users"):
        shown(app).set_value(show).run()
        work(30)
        app.run()
        said = words(app)
        assert bool(charts(app)) == private
        if not private:
            assert "Without privacy there is no privacy cost" in said or "no private model" in said
