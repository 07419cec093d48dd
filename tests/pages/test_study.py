"""The page Trade-offs as a value, and its links."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dprl.fields import SpecError
from dprl.simulation import OfflineSpec, RunSpec
from pages.shared.values import values_text
from pages.tradeoffs import study as studies
from pages.tradeoffs.study import DEFAULT, SweepView
from tests.pages.conftest import grouped


def query(study: SweepView) -> dict[str, list[str]]:
    return grouped(studies.encode(study))


BASE = RunSpec(environment_params={"S": 3, "H": 3}, episodes=1000, seeds=2)
DATA = OfflineSpec(environment_params={"S": 3, "H": 3}, n=10**6, seeds=2)
STUDIES = (
    DEFAULT,
    SweepView(BASE, ("local:laplace:paper", "none"), "episodes", (10, 10**15), "users", 12.5),
    SweepView(BASE.replace(environment="chain"), ("central",), "S", (3, 4), "table"),
    SweepView(RunSpec(algorithm="ucbvi"), ("none",), "H", (3,), "regret", statistic="median"),
    SweepView(DATA, ("apvi", "dp-apvi"), "rho", (0.01, 1.0), "regret", among=(100, 10**6)),
    SweepView(DATA.replace(privacy="pure"), ("apvi", "dp-apvi", "dp-kl-lcb"), "n", (10, 10**12)),
    SweepView(DATA.replace(environment="random"), ("dp-apvi",), "S", (3, 4), "table", among=(0.5,)),
)


def test_medians_are_in_the_link_and_means_in_none() -> None:
    assert ("stat", "median") in studies.encode(replace(DEFAULT, statistic="median"))
    assert "stat" not in query(DEFAULT)
    asked = replace(DEFAULT, statistic="median")
    assert {other.statistic for other in studies.questions(asked).values()} == {"median"}


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


def test_users_compares_mechanisms_at_the_same_promise() -> None:
    assert DEFAULT.ways[:6] == (
        "central:gaussian-optimal:calibrated",
        "central:gaussian-toeplitz:calibrated",
        "central:gaussian-blt:calibrated",
        "central:gaussian-tree:calibrated",
        "central:laplace-tree:calibrated",
        "central:laplace-tree:scaled",
    )
    spec = DEFAULT.searches["central:laplace-tree:calibrated"][10_000]
    assert (spec.episodes, spec.mechanism, spec.epsilon, spec.delta) == (10_000, "laplace-tree", 1.0, 1e-6)


def test_users_leaves_out_what_cannot_be_run_and_says_which_field_is_why() -> None:
    pure = SweepView(BASE.replace(mechanism=None, delta=0.0), show="users")
    assert set(pure.searches) == {
        "central:laplace-tree:calibrated",
        "central:laplace-tree:scaled",
        "local:laplace:calibrated:played",
        "local:unary:calibrated:played",
    }
    assert [reason.partition(":")[0] for reason in pure.refusals] == ["delta"] * 7
    assert set(pure.searches) | {way for ways in pure.refusals.values() for way in ways} == set(pure.ways)
    # A search that has to end early says why, too.
    short = SweepView(BASE.replace(schedule="episodic"), ("central",), show="users")
    assert max(short.searches["central:laplace-tree:calibrated"]) == 10**6
    assert max(short.searches["central:gaussian-toeplitz:calibrated"]) < 4000
    assert {reason.partition(":")[0] for reason in short.refusals} == {"schedule", "episodes"}


def test_what_has_no_privacy_is_one_line_at_all_budgets() -> None:
    at_n, at_rho = (next(s for s in STUDIES if s.base.kind == "offline" and s.x == x) for x in ("rho", "n"))
    assert list(at_n.titles.values()) == [
        "APVI, no privacy, n = 100", "APVI, no privacy, n = 1 million", "DP-APVI, n = 100", "DP-APVI, n = 1 million",
    ]  # fmt: skip
    assert list(at_rho.titles.values())[:3] == ["APVI, no privacy", "DP-APVI, ε = 0.1", "DP-APVI, ε = 1"]
    assert {spec.epsilon for _, spec in at_rho.points("dp-kl-lcb:1")} == {1.0}
    with pytest.raises(SpecError, match="these are 16 lines; at most 8 can be told apart"):
        SweepView(DATA, ("apvi", "dp-apvi"), "rho", (1.0,), among=tuple(range(100, 108)))
    with pytest.raises(SpecError, match="models: dp-vapvi is not allowed with riverswim"):
        SweepView(DATA, ("dp-vapvi",), "rho", (1.0,))


@pytest.mark.parametrize("study", STUDIES)
def test_other_questions_are_studies_of_the_same_base(study: SweepView) -> None:
    found = studies.questions(study)
    for other in found.values():
        assert other.base == study.base
        assert (other.models, other.x) != (study.models, study.x)
        assert any(point.spec for point in other.sweep.points)
    online = study.base.kind == "online"
    assert ("Which mechanism?" in found) == (online and any(w.startswith("central") for w in study.ways))
