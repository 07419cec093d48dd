"""The page Trade-offs as a value, and what a visitor sees at first, runs, presses, copies."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import streamlit as st

from dprl.fields import SpecError
from dprl.runs.store import Store
from dprl.simulation import RunSpec
from pages.shared.layout.frame import CRASHED
from pages.shared.visitor.links import values_text
from pages.tradeoffs import charts as charts_of
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import SweepPageState, SweepView
from tests.pages import test_offline
from tests.pages.conftest import Visit, Work, charts, grouped, kept, names, plain, press, widget, words
from tests.problems import first

PAGE = "tradeoffs"
QUESTIONS = studies.questions(studies.DEFAULT.base)
FREE = QUESTIONS["When is privacy free?"]
SMALL = SweepView(
    RunSpec(environment_params={"S": 3, "H": 3}, episodes=10**6, seeds=3),
    ("none", "central", "local"),
    "epsilon",
    (1.0, 10.0, 100.0),
)


def query(study: SweepView) -> dict[str, Any]:
    return grouped(studies.encode(study))


@pytest.mark.parametrize("show", studies.SHOWS)
def test_the_first_view_is_finished_and_computes_nothing(visit: Visit, store: Store, show: str) -> None:
    app = visit(PAGE, **query(replace(studies.DEFAULT, show=show)))
    assert app.get("progress") == []
    assert store.activity().seeds_queued == 0
    (chart,) = charts(app)
    assert chart.alt.startswith("Chart of")


@pytest.mark.parametrize("words_", first(QUESTIONS))
def test_a_question_is_one_press_and_is_answered_at_once(visit: Visit, store: Store, words_: str) -> None:
    app = visit(PAGE)
    (pills,) = (each for each in app.pills if words_ in each.options)
    assert len(pills.options) == 6
    pills.set_value(words_).run()
    assert kept(app, SweepPageState).view == QUESTIONS[words_]
    assert charts(app)
    assert store.activity().seeds_queued == 0
    assert app.get("progress") == []


def test_a_question_is_about_what_the_settings_describe(visit: Visit) -> None:
    app = visit(PAGE)
    widget(app, "selectbox", "Environment").select("chain").run()
    (pills,) = (each for each in app.pills if "What do more states cost?" in each.options)
    pills.set_value("What do more states cost?").run()
    assert (kept(app, SweepPageState).view.base.environment, kept(app, SweepPageState).view.x) == (
        "chain",
        "S",
    )


def test_when_privacy_is_free_is_said_of_all_models(visit: Visit) -> None:
    app = visit(PAGE, **query(FREE))
    said = words(app)
    assert (
        "At 10¹⁵ users the privacy cost of **Central (JDP)** and **Shuffle (SDP)** no longer grows. "
        "At 10¹⁵ users the privacy cost of **Local (LDP)** still grows." in said
    )
    assert "For **Central (JDP)**, the cost does not grow after" in said
    drawn = names(app)
    for title in ("No privacy", "Central (JDP)", "Shuffle (SDP)", "Local (LDP)"):
        assert any(name.startswith(title) for name in drawn), drawn
    last = {title: steps[-1] for title, steps in charts_of.growth(FREE).items()}
    assert last["Central (JDP)"].high <= 0.1
    assert last["Local (LDP)"].low > 0.1
    assert not any(name.startswith("proved:") for name in names(app))


def test_bounds_are_drawn_on_demand(visit: Visit) -> None:
    app = visit(PAGE, **query(FREE))
    widget(app, "toggle", "Proved bounds").set_value(True).run()
    assert app.query_params["bounds"] == "on"
    assert {name for name in names(app) if name.startswith("proved:")} == {
        "proved: Lower bound, No privacy", "proved: DP-UCBVI, Central (JDP)",
        "proved: SDP-PE, Shuffle (SDP)", "proved: DP-UCBVI, Local (LDP)",
    }  # fmt: skip
    said = words(app)
    assert "compare slopes, not heights" in said
    assert "**DP-UCBVI, Local (LDP):** at most Õ(√(SAH³K) + S²AH³√K/ε) (Qiao, Wang 2023" in said
    assert "Condition not met here: proved for ε below 1." in said
    lines, _ = charts_of.proved(replace(FREE, bounds="on", show="price"))
    assert [line.model for line in lines] == ["central", "shuffle", "local"]
    np.testing.assert_allclose(lines[0].values, 36 * 2 * 8000)  # S²AH³/ε, whatever K is
    assert charts_of.proved(replace(FREE, bounds="on", base=FREE.base.replace(contribution=3))) == ([], ())


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
    assert "Without privacy, the algorithm did not find the best policy in 3 of 3 seeds" in warning.value
    # were the run without privacy to lose more
    ends = charts_of.ends
    monkeypatch.setattr(charts_of, "ends", lambda spec: ends(spec) + 1e6 * (spec.privacy == "none"))
    (warning,) = visit(PAGE, **query(study)).warning
    said = plain(warning.value)
    assert (
        "The whole 95% interval of the mean privacy cost is below zero for Central (JDP) at ε = 1, " in said
    )
    assert "and 3 more: the run without privacy lost more" in said


@pytest.mark.parametrize(
    ("page", "link", "runs", "seeds", "part"),
    [(PAGE, query(SMALL), 7, 21, 6), ("offline", test_offline.query(), 3, 6, 3)],
    ids=[PAGE, "offline"],
)
def test_a_link_starts_what_is_missing_and_a_second_visitor_waits_for_nothing(
    visit: Visit, work: Work, store: Store, page: str, link: dict[str, Any], runs: int, seeds: int, part: int
) -> None:
    app = visit(page, **link)
    assert f"{runs} runs" in words(app)
    assert store.activity().seeds_queued == seeds
    assert "The first points will appear in a moment" in words(app)
    work(part)
    app.run()
    assert f"{part} of {seeds} seeds finished" in words(app).replace("**", "")
    assert charts(app)
    assert work() == seeds - part
    app.run()
    assert app.get("progress") == []
    assert not any("halving" in name for name in names(app))
    second = visit(page, **link)
    assert second.get("progress") == []
    assert names(second) == names(app)
    assert store.activity().seeds_queued == 0


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
    assert "**Central (JDP)** needs " in words(app)
    (chart,) = charts(app)
    assert "Central (JDP)" in chart.spec


def test_points_that_cannot_be_run_say_why(visit: Visit) -> None:
    app = visit(PAGE, **query(replace(SMALL, x="S", values=(3, 300))))
    assert "can be drawn: " in words(app)
    assert "counters" in words(app)


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
        patch.setattr(charts_of, "frontiers", broken)
        app.fails = True
        app.run()
        assert begun[-1] is None  # it stands still, said once
        assert [e.value for e in app.error] == [CRASHED]
        assert len([one for one in caplog.records if one.message == "Drawing a page failed"]) < 4
        assert app.segmented_control  # with its controls
    app.fails = False
    app.run()
    assert begun[-1] is not None


BASE = RunSpec(environment_params={"S": 3, "H": 3}, episodes=1000, seeds=2)


def test_values_are_written_as_people_do_and_others_refused() -> None:
    written = {"0.1, 1, 20": (0.1, 1, 20), "1000, 1e6, 1e15": (1000, 10**6, 10**15), "123456": (123456,)}
    for text, values in written.items():
        assert values_text(values) == text
        axis = "episodes" if values[-1] > 100 else "epsilon"
        assert studies.parse_values(BASE, axis, text) == values
    for text in ("", ",", "1,1", "a", "none", ",".join(map(str, range(1, 40)))):
        with pytest.raises(SpecError):
            studies.parse_values(BASE, "epsilon", text)


def test_every_axis_has_values_to_begin_with() -> None:
    for environment in ("riverswim", "chain", "gridworld", "clinic", "hard-jdp", "random"):
        base = RunSpec(environment=environment)
        for x in studies.axes(base):
            values = studies.default_values(base, x)
            assert SweepView(base, ("central",), x, values).values == tuple(sorted(values))


def test_users_leaves_out_what_cannot_be_run_and_says_which_field_is_why() -> None:
    tree, toeplitz = "central:laplace-tree:calibrated", "central:gaussian-toeplitz:calibrated"
    models = (tree, toeplitz, "shuffle", "local:unary:calibrated:played")
    pure = SweepView(BASE.replace(mechanism=None, delta=0.0), models, show="users")
    assert set(pure.searches) == {tree, "local:unary:calibrated:played"}
    assert [reason.partition(":")[0] for reason in pure.refusals] == ["delta"] * 2
    assert [model for left in pure.refusals.values() for model in left] == [toeplitz, "shuffle"]
    # A search that has to end early says why, too.
    short = SweepView(BASE.replace(schedule="episodic"), (tree, toeplitz), show="users")
    assert max(short.searches[tree]) == 10**6
    assert max(short.searches[toeplitz]) < 4000
    assert {reason.partition(":")[0] for reason in short.refusals} == {"schedule", "episodes"}


@pytest.mark.parametrize("environment", ["riverswim", "chain", "gridworld", "random"])
def test_questions_are_studies_of_one_base_each_its_own_answer(environment: str) -> None:
    base = RunSpec(environment=environment, seeds=10)
    found = studies.questions(base)
    assert {"Which mechanism costs least?", "How many users are needed?"} <= set(found)
    for title, study in found.items():
        assert study.base == base
        assert any(point.spec for point in study.sweep.points)
        assert studies.question_of(study) == title
        assert sum(spec.seeds for spec in study.sweep.specs) <= 400  # as many as may wait for one tab
    free = found["When is privacy free?"]
    assert (free.models, free.x, free.values[-1]) == (studies.DEFAULT_MODELS, "episodes", 10**15)
    assert studies.question_of(replace(free, values=(10, 100))) is None
