"""The page Trade-offs as a value, and its links."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dprl.fields import SpecError
from dprl.simulation import RunSpec
from pages.shared.visitor.links import values_text
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import SweepView

BASE = RunSpec(environment_params={"S": 3, "H": 3}, episodes=1000, seeds=2)


@pytest.mark.parametrize(
    ("values", "text"),
    [((0.1, 1, 20), "0.1, 1, 20"), ((1000, 10**6, 10**15), "1000, 1e6, 1e15"), ((123456,), "123456")],
)
def test_values_are_written_as_people_do(values: tuple[float, ...], text: str) -> None:
    assert values_text(values) == text
    axis = "episodes" if values[-1] > 100 else "epsilon"
    assert studies.parse_values(BASE, axis, text) == values


@pytest.mark.parametrize("text", ["", ",", "1,1", "a", "none", ",".join(map(str, range(1, 40)))])
def test_values_that_are_refused(text: str) -> None:
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
    assert {"When is privacy free?", "Which mechanism?", "How many users?"} <= set(found)
    for words, study in found.items():
        assert study.base == base
        assert any(point.spec for point in study.sweep.points)
        assert studies.question_of(study) == words
        assert sum(spec.seeds for spec in study.sweep.specs) <= 400  # as many as may wait for one tab
    free = found["When is privacy free?"]
    assert (free.models, free.x, free.values[-1]) == (studies.DEFAULT_MODELS, "episodes", 10**15)
    assert studies.question_of(replace(free, values=(10, 100))) is None
