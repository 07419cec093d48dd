"""Results are data that stay as they were made: one run of many, tables, sentences, a few lines in a notebook."""

from __future__ import annotations

import copy
import io
import json
import pickle
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from scipy.stats import t

import dprl
from dprl.metrics.curves import RunCurves
from dprl.simulation import AttackSpec, Trace
from dprl.simulation.uploads import kept
from tests.problems import refused, tiny
from tests.test_research import computed
from tests.two_rooms import EXAMPLE, example

SPEC = dprl.RunSpec("riverswim", environment_params={"S": 3, "H": 2}, episodes=100, seeds=3)


@pytest.fixture(scope="module")
def result() -> dprl.SweepResult[dprl.RunSpec]:
    return computed(dprl.Sweep(SPEC, {"epsilon": [0.3, 1], "privacy": ["none", "central"]}))


def test_one_run_is_selected_by_its_values(result: dprl.SweepResult[dprl.RunSpec]) -> None:
    trace = result.select(epsilon="0.3", privacy="central")
    assert trace.spec == SPEC.replace(epsilon=0.3)
    assert np.array_equal(trace.values, result.curves[trace.spec].values)
    assert trace.seeds[0].policy.shape[1:] == (2, 3)
    assert result.select(privacy="none").spec == SPEC.baseline()


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            {"epsilon": 0.3},
            "axis: 2 runs have these values; give the values of one: epsilon 0.3, 1.0; privacy no",
        ),
        ({"epsilon": 2}, "axis: 0 runs have these values"),
        (
            {"privac": "none"},
            "axis: privac is not an axis of this sweep (did you mean privacy?); give one of epsil",
        ),
        ({"epsilon": "x"}, "epsilon: x is not"),
        ({}, "axis: 3 runs have these values"),
    ],
)
def test_what_selects_no_single_run_gets_a_sentence(
    result: dprl.SweepResult[dprl.RunSpec], values: dict[str, Any], sentence: str
) -> None:
    with refused(sentence):
        result.select(**values)


def test_a_summary_has_means_with_intervals(result: dprl.SweepResult[dprl.RunSpec]) -> None:
    table = result.summary()
    assert list(table.columns[:5]) == ["epsilon", "privacy", "regret_mean", "regret_low", "regret_high"]
    assert len(table) == 4
    row = table[(table["epsilon"] == 0.3) & (table["privacy"] == "central")].iloc[0]
    ends = result.curves[SPEC.replace(epsilon=0.3)].ends
    half = t.ppf(0.975, 2) * ends.std(ddof=1) / np.sqrt(3)
    assert row["regret_mean"] == pytest.approx(ends.mean())
    assert row["regret_low"] == pytest.approx(max(ends.mean() - half, 0))
    assert row["regret_high"] == pytest.approx(ends.mean() + half)
    assert (table[table["privacy"] == "none"]["extra_regret_mean"] == 0).all()


def test_an_interval_of_regret_begins_at_zero(result: dprl.SweepResult[dprl.RunSpec]) -> None:
    far = RunCurves(np.array([100]), np.array([[0.0], [0.0], [30.0]]))
    table = dprl.SweepResult(result.sweep, dict.fromkeys(result.sweep.specs, far)).summary()
    assert (table["regret_low"] == 0).all()
    seeds = list(dprl.run(SPEC).seeds)
    for seed, value in zip(seeds, (0.0, 0.0, 30.0), strict=True):
        object.__setattr__(seed, "curve", seed.curve._replace(at=np.array([100]), values=np.array([value])))
    trace = dprl.Trace(SPEC, tuple(seeds))
    assert trace.summary()["final_regret_low"] == 0
    assert dprl.compare({"a": trace}).summary()["final_regret_low"][0] == 0


def test_every_frame_has_the_whole_curve_or_its_end(result: dprl.SweepResult[dprl.RunSpec]) -> None:
    trace = dprl.run(SPEC)
    compared = dprl.compare({"one": trace})
    for shown, rows in ((trace, SPEC.seeds), (compared, SPEC.seeds), (result, 4 * SPEC.seeds)):
        end, whole = shown.frame(whole=False), shown.frame(whole=True)
        assert len(end) == rows
        assert len(whole) == rows * len(trace.at)
        assert set(end.columns) == set(whole.columns)
        assert (end["episode"] == SPEC.episodes).all()


MOST = 1000  # characters; of many runs twice that
TINY = tiny(3)
ONLINE = dprl.RunSpec(**TINY, episodes=1000, seeds=2)
KINDS: dict[str, Callable[[], Any]] = {
    "online": lambda: ONLINE,
    "offline": lambda: dprl.OfflineSpec(**TINY, n=1000, seeds=2),
    "attack": lambda: AttackSpec(run=ONLINE, executions=4, seeds=1),
    "upload": lambda: dprl.upload(io.BytesIO(example().encode()), EXAMPLE, held_out=0.0),
}


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trace]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "home", lambda: tmp_path_factory.getbasetemp() / "home")
        return {kind: dprl.run(spec()) for kind, spec in KINDS.items()}


def whatever(names: Iterable[tuple[str, Any]]) -> None:
    """Each prints something, in at most MOST characters."""
    for name, thing in names:
        assert 0 < len(repr(thing)) <= MOST, (name, len(repr(thing)), repr(thing)[:200])


@pytest.mark.parametrize("kind", KINDS)
def test_a_trace_and_all_that_hangs_on_it_print_briefly(traces: dict[str, Trace], kind: str) -> None:
    trace = traces[kind]
    whatever((name, getattr(trace, name)) for name in ("spec", "seeds", "guarantee"))
    whatever((f"{kind} seed {seed.seed}", seed) for seed in trace.seeds)
    whatever([("trace", trace), ("curve", trace.seeds[0].curve), ("estimate", dprl.estimate(trace.spec))])
    lines = repr(trace).splitlines()
    assert len(lines) == 3
    assert trace.spec.label() in lines[0]
    assert f"{len(trace.seeds)} seed" in lines[0]
    assert f"{trace.values[:, -1].mean():.6g}" in lines[1]
    assert lines[2] == repr(trace.guarantee)


def test_an_environment_of_ones_own_prints_briefly_however_large_it_is() -> None:
    spec = dprl.RunSpec(dprl.ENVIRONMENTS["riverswim"].make(S=40, H=2), episodes=1000)
    assert len(spec.to_json()) > 4 * MOST
    whatever([("custom", spec), ("attack", AttackSpec(run=spec))])


def test_of_many_runs_a_notebook_shows_some() -> None:
    budgets = [round(0.1 * 1.01**k, 6) for k in range(400)]
    sweep = dprl.Sweep(ONLINE, {"epsilon": budgets})
    end = np.array([ONLINE.episodes])
    curves = {spec: RunCurves(end, np.full((ONLINE.seeds, 1), 1234.5)) for spec in sweep.specs}
    parts = dprl.Sweep(ONLINE, {"privacy": ["none", "local"], "epsilon": budgets[:200]})
    both = dprl.SweepResult(parts, {spec: curves[ONLINE.baseline()] for spec in parts.specs})
    run = dprl.run(ONLINE)
    many = dprl.compare({f"a run with a name of its own, {k}": run for k in range(40)})
    for shown in (sweep, parts, dprl.SweepResult(sweep, curves), both, many):
        text = re.sub(r"<[^<>]*>", "", shown._repr_html_())
        assert len(text) < 2 * MOST
        assert len(repr(shown)) < 2 * MOST
        assert " more" in text or "..." in text
    few = dprl.SweepResult(dprl.Sweep(ONLINE, {"epsilon": budgets[:3]}), curves)
    assert few._repr_html_().count("<tr") == 4
    assert "..." not in few._repr_html_()


# Specs, models and results stay as they were made.

SPECS = SPEC, dprl.OfflineSpec(environment_params={"S": 3, "H": 3}, n=100, seeds=1)
CHANGES: list[tuple[Any, ...]] = [
    ("__setitem__", "S", 5), ("__delitem__", "S"), ("__ior__", {"S": 5}), ("update", {"S": 5}), ("setdefault", "X", 5),
    ("pop", "S"), ("popitem",), ("clear",),
]  # fmt: skip


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("name", ["environment_params", "algorithm_params"])
def test_parameters_of_a_spec_do_not_change(spec: Any, name: str) -> None:
    before, params = spec.to_json(), getattr(spec, name)
    for change, *given in CHANGES:
        with pytest.raises(TypeError, match=r"read-only; .* spec\.replace"):
            getattr(params, change)(*given)
    assert spec.to_json() == before


def test_a_spec_keeps_its_own_parameters() -> None:
    given = {"S": 3, "H": 3}
    spec = dprl.RunSpec(environment_params=given)
    given["S"] = 5
    assert spec.environment_params == {"S": 3, "H": 3, "variant": "osband"}
    assert {**spec.environment_params, "S": 4} == {"S": 4, "H": 3, "variant": "osband"}
    assert json.loads(json.dumps(spec.environment_params)) == spec.environment_params


@pytest.mark.parametrize("spec", SPECS)
def test_a_copy_of_a_spec_is_equal_and_as_frozen(spec: Any) -> None:
    for other in (copy.deepcopy(spec), copy.copy(spec), pickle.loads(pickle.dumps(spec)), spec.replace()):
        assert (other, hash(other)) == (spec, hash(spec))
        with pytest.raises(TypeError):
            other.environment_params["S"] = 5


@pytest.mark.parametrize("spec", SPECS)
def test_arrays_of_a_trace_are_read_only(spec: Any) -> None:
    trace = dprl.run(spec)
    arrays = [trace.at, trace.values, trace.episodes, trace.regret, *trace.seeds[0].curve[2:]]
    for value in vars(trace.seeds[0]).values():
        if isinstance(value, dict):
            with pytest.raises(TypeError):
                value["new"] = 1
        arrays += list(value.values()) if isinstance(value, dict) else [value]
    arrays = [array for array in arrays if isinstance(array, np.ndarray)]
    assert len(arrays) > 15
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array.fill(0)


def test_arrays_of_a_model_are_read_only_copies() -> None:
    P, R, d1 = np.ones((2, 1, 2, 1)), np.zeros((2, 1, 2)), np.ones(1)
    mdp = dprl.TabularMDP("room", P, R, d1, ("s",), ("a", "b"))
    R[:] = 1
    assert not mdp.R.any()
    for array in (mdp.P, mdp.R, mdp.d1, mdp.possible, dprl.ENVIRONMENTS["riverswim"].make(S=3, H=2).P):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(TypeError):
        mdp.drawing["kind"] = "grid"  # type: ignore[index]


def test_a_model_may_be_lists() -> None:
    make: Any = dprl.TabularMDP
    labels = ("s",), ("a", "b")
    assert make("room", [[[[1.0], [1]]]], [[[0, 1]]], [1], *labels).R.tolist() == [[[0.0, 1.0]]]
    with pytest.raises(dprl.SpecError, match=r"^R: this is not allowed; give an array of numbers\.$"):
        make("room", [[[[1.0], [1]]]], "no numbers", [1], *labels)
