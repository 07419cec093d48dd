"""The page Trade-offs: what a visitor sees at first, runs, presses, copies."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dprl import studies
from dprl.jobs.store import Store
from dprl.learners import ALGORITHMS
from dprl.simulation import RunSpec
from dprl.studies import Study
from tests.pages.conftest import charts, unbroken, words

Visit = Callable[..., AppTest]
Work = Callable[..., int]

PAGE = "pages/tradeoffs/page.py"
SMALLEST = {"S": 2, "A": 2, "H": 2}
SMALL = Study(
    RunSpec(environment_params={"S": 3, "H": 3}, episodes=20_000, seeds=3),
    ("none", "central", "local"),
    "epsilon",
    (1.0, 10.0, 100.0),
)


def query(study: Study) -> dict[str, Any]:
    found: dict[str, list[str]] = {}
    for key, value in studies.encode(study):
        found.setdefault(key, []).append(value)
    return found


def names(app: AppTest) -> list[str]:
    (chart,) = charts(app)
    return [trace.get("name", "") for trace in json.loads(chart.spec)["data"]]


@pytest.mark.parametrize("show", studies.SHOWS)
def test_the_first_view_is_finished_and_computes_nothing(visit: Visit, store: Store, show: str) -> None:
    app = visit(PAGE, **query(replace(studies.DEFAULT, show=show)))
    assert app.get("progress") == []
    assert store.activity().seeds_queued == 0
    if show == "table":
        (table,) = (d for d in app.dataframe if "price low" in d.value.columns)
        assert len(table.value) == 4 * 8
        assert table.value["seeds"].eq(10).all()
        assert table.value["run"].str.startswith("/explore?v=1&c=").all()
    else:
        (chart,) = charts(app)
        assert chart.alt.startswith("Chart of")


def test_what_the_first_view_says(visit: Visit) -> None:
    """The issue of this page: slopes with intervals, order of epsilon, and the users each mechanism needs."""
    said = words(visit(PAGE, **query(studies.DEFAULT)))
    assert "the price of privacy falls like ε^−0." in said
    assert "Holm-corrected" in said
    said = words(visit(PAGE, **query(replace(studies.DEFAULT, show="users"))))
    assert "as printed, scaled to prove ε** 233 times as many (231 to 235)" in said
    assert "**Central, Laplace tree** 4.2 times as many" in said


def test_a_link_starts_what_is_missing_and_a_second_visitor_waits_for_nothing(
    visit: Visit, work: Work, store: Store
) -> None:
    app = visit(PAGE, **query(SMALL))
    assert "7 runs" in words(app)
    assert store.activity().seeds_queued == 7 * 3
    assert "first points appear" in words(app)
    work(6)
    app.run()
    unbroken(app)
    assert "6 of 21 seeds finished" in words(app).replace("**", "")
    assert charts(app)
    assert work() == 15
    app.run()
    unbroken(app)
    assert app.get("progress") == []
    assert sum("ε^" in name for name in names(app)) >= 1
    second = visit(PAGE, **query(SMALL))
    assert second.get("progress") == []
    assert names(second) == names(app)
    assert store.activity().seeds_queued == 0


def test_one_button_cancels_all(visit: Visit, store: Store) -> None:
    app = visit(PAGE, **query(SMALL))
    app.button(key="cancel").click().run()
    unbroken(app)
    assert store.activity().seeds_queued == 0
    assert "7 runs of 7 not computed" in words(app)
    app.button(key="begin").click().run()
    assert store.activity().seeds_queued == 21


def test_a_failed_run_is_said_and_can_be_tried_again(visit: Visit, store: Store) -> None:
    app = visit(PAGE, **query(SMALL))
    while (unit := store.claim("test")) is not None:
        store.fail(unit, "Seed 0 failed: <b>no</b> memory.")
    app.run()
    unbroken(app)
    assert "7 runs failed" in words(app)
    assert "<b>" not in words(app)
    app.button(key="retry").click().run()
    assert store.activity().seeds_queued == 21


def test_run_shows_the_study_of_the_controls(visit: Visit, store: Store, work: Work) -> None:
    app = visit(PAGE, **query(SMALL))
    work()
    app.run()
    (values,) = (t for t in app.text_input if t.label == "Values")
    assert values.value == "1, 10, 100"
    values.set_value("1, 10, 1000").run()
    unbroken(app)
    assert store.activity().seeds_queued == 0  # not before Run
    app.button(key="run").click().run()
    unbroken(app)
    assert store.activity().seeds_queued == 2 * 3
    assert "1,10,1000" in app.query_params["at"]


@pytest.mark.parametrize(
    ("text", "said"), [("1, x", "epsilon: x is not allowed"), ("", "values: 0 were given")]
)
def test_bad_values_are_one_sentence(visit: Visit, text: str, said: str) -> None:
    app = visit(PAGE)
    (values,) = (t for t in app.text_input if t.label == "Values")
    values.set_value(text).run()
    unbroken(app)
    assert said in words(app).replace("\\", "")
    assert app.button(key="run").disabled


def test_users_are_searched_for_run_by_run(visit: Visit, store: Store, work: Work) -> None:
    study = replace(SMALL, models=("central",), show="users", share=50.0)
    app = visit(PAGE, **query(study))
    rounds = 0
    while store.activity().seeds_queued and rounds < 40:
        work()
        app.run()
        unbroken(app)
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
    app.segmented_control[0].set_value("regret").run()
    unbroken(app)
    assert app.query_params["show"] == "regret"
    assert any(name.startswith("No privacy") for name in names(app))


def test_points_that_cannot_be_run_say_why(visit: Visit) -> None:
    app = visit(PAGE, **query(replace(SMALL, x="S", values=(3, 300))))
    assert "Left out" in words(app)
    assert "counters" in words(app)


def test_a_link_that_is_wrong_is_said_in_a_sentence(visit: Visit) -> None:
    app = visit(PAGE, v="1", m=["secret", "<script>"], x="<img>", at="1", share="lots")
    (warning,) = app.warning
    assert "Not all of this link could be used" in warning.value
    assert "\\<img\\>" in warning.value  # as it was written, and never interpreted
    assert charts(app)


@pytest.mark.parametrize("environment", ["chain", "gridworld", "clinic", "hard-jdp", "random"])
def test_other_environments(visit: Visit, work: Work, environment: str) -> None:
    base = RunSpec(environment=environment, episodes=500, seeds=2)
    study = Study(base, ("none", "central"), "epsilon", (1.0, 10.0))
    app = visit(PAGE, **query(study))
    work()
    app.run()
    unbroken(app)
    assert charts(app)


def test_sweeps_are_one_entry_of_runs(visit: Visit, store: Store) -> None:
    app = visit(PAGE, **query(SMALL))
    app.switch_page("pages/runs/page.py").run()
    unbroken(app)
    assert "Sweeps of Trade-offs" in words(app)
    assert len(app.button) < 6
    app.button(key="cancel_sweep").click().run()
    unbroken(app)
    assert store.activity().seeds_queued == 0
    app.button(key="clear").click().run()
    assert "Sweeps of Trade-offs" not in words(app)


def test_a_question_is_one_press(visit: Visit, store: Store) -> None:
    app = visit(PAGE, **query(SMALL))
    app.button(key="question_episodes_4").click().run()
    unbroken(app)
    assert app.query_params["x"] == "episodes"
    assert store.activity().runs_waiting > 7


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("show", ["price", "users"])
def test_every_algorithm(visit: Visit, work: Work, algorithm: str, show: str) -> None:
    base = RunSpec(
        algorithm=algorithm, environment="random", environment_params=SMALLEST, episodes=2000, seeds=2
    )
    study = Study(base, studies.usual_models(base), "epsilon", (1.0, 100.0), show, 50.0)
    app = visit(PAGE, **query(study))
    work(30)
    app.run()
    unbroken(app)
    said = words(app)
    private = study.models != ("none",)
    assert bool(charts(app)) == private
    if not private:
        assert "no price" in said or "no private model" in said
