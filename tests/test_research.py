"""Results in a script or a notebook: cards, the dashboard's charts, and sweeps that compute themselves."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dprl
from dprl import OfflineSpec, RunSpec, SpecError, Sweep, TabularMDP, compare
from dprl.metrics.curves import RunCurves, regret_band
from dprl.research import SweepResult
from dprl.runs.store import Store, opened
from dprl.simulation import AttackSpec
from dprl.simulation.uploads import model
from tests.environments.test_custom import GOOD
from tests.problems import refused

SPEC = RunSpec(environment_params={"S": 3, "H": 3}, episodes=1000, seeds=3)
MOST = 2000  # characters of text that a cell of a notebook puts out


@pytest.fixture(scope="module")
def private() -> dprl.Trace:
    return dprl.run(SPEC)


@pytest.fixture(scope="module")
def baseline() -> dprl.Trace:
    return dprl.run(SPEC.baseline())


def test_what_a_notebook_shows_is_short_and_says_label_regret_and_proof(
    private: dprl.Trace, baseline: dprl.Trace
) -> None:
    both = compare([private, baseline])
    swept = Sweep(SPEC, {"epsilon": [0.5, 1.0]})
    registries = dprl.ALGORITHMS, dprl.ENVIRONMENTS, dprl.MECHANISMS, dprl.simulation.FIELDS
    for shown in (SPEC, private, private.guarantee, both, swept, OfflineSpec(), *registries):
        html = shown._repr_html_()
        assert len(html) < MOST, type(shown)
        assert len(repr(shown)) < MOST
        assert html.startswith("<table>")
        assert html.endswith("</table>")
    card = private._repr_html_()
    final = private.summary()
    assert "DP-UCBVI, central, epsilon 1" in card
    assert f"final regret {final['final_regret_mean']:.6g} (95% interval over seeds:" in card
    assert "proved: (epsilon, delta) = (" in card
    assert "no privacy" in baseline._repr_html_()
    assert both._repr_html_().count("<tr>") == 2


def test_what_somebody_named_is_text_on_a_card() -> None:
    model = {"name": "<b>x</b>", "P": [[[1.0]]], "R": [[0.5]], "d1": [1.0]}
    spec = RunSpec(environment=model, environment_params={"H": 2})
    assert "<b>" not in spec._repr_html_()


def test_charts_have_the_numbers_of_the_traces(private: dprl.Trace, baseline: dprl.Trace) -> None:
    both = compare({"ours": private, "none": baseline})
    for measure, values in (
        ("regret", private.regret),
        ("share", private.regret / private.at / private.seeds[0].v_star),
        ("regret per episode", private.regret / private.at),
        ("privacy cost", private.regret - baseline.regret),
    ):
        picture = both.plot(measure)  # type: ignore[arg-type]
        table = picture.table[picture.table["curve"] == "ours"]
        center, low, _ = regret_band(values)
        np.testing.assert_allclose(table["mean"], center)
        np.testing.assert_allclose(table["low (95%)"], low)
        assert set(picture.table["curve"]) == ({"ours"} if measure == "privacy cost" else {"ours", "none"})
        assert picture.see
        assert len(repr(picture)) < MOST
        assert len(picture._repr_mimebundle_().get("text/plain", "")) < MOST
    assert set(private.plot(statistic="median").table["curve"]) == {SPEC.label()}
    episodes = both.plot("suboptimal episodes")
    row = episodes.table[episodes.table["curve"] == "ours"].iloc[0]
    fell_short = np.diff(private.regret, prepend=0.0) / np.diff(private.at, prepend=0)
    assert 0 < row["episodes (mean)"] <= SPEC.episodes
    assert fell_short.max(1).min() > row["alpha"]
    assert row["episodes (mean)"] == np.mean([seed.pac_count[-1][0] for seed in private.seeds])
    assert episodes.see_markdown.startswith("**")
    frame = both.frame()
    assert list(frame.columns) == ["run", "seed", "episode", "regret"]
    assert len(frame) == private.values.size + baseline.values.size


def test_what_cannot_be_drawn_is_said_in_a_sentence(private: dprl.Trace, baseline: dprl.Trace) -> None:
    seeds: Any = private.seeds
    offline = dprl.Trace(OfflineSpec(), seeds)
    nothing = TabularMDP("poor", np.ones((1, 1, 2, 1)), np.zeros((1, 1, 2)), np.ones(1), ("s",), ("a", "b"))
    poor = dprl.run(RunSpec(environment=nothing, episodes=10, seeds=1))
    for chart, measure, sentence in (
        (private, "privacy cost", "measure: privacy cost is relative to the non-private baseline"),
        (poor, "share", "measure: V* of DP-UCBVI, central, epsilon 1 is 0"),
        (private, "cost", "measure: cost is not allowed; give one of regret,"),
        (compare([private] * 9), None, "traces: 9 curves cannot be told apart"),
        (compare([private, offline]), None, "traces: online and offline runs have no chart in common"),
        (private, "policy", "measure: policy needs a run on a data set"),
    ):
        with refused(sentence):
            chart.plot(measure)  # type: ignore[arg-type]
    with refused("traces: there is none"):
        compare([])


def test_runs_on_data_sets_have_the_dashboard_s_charts() -> None:
    small = OfflineSpec(environment_params={"S": 3, "H": 3}, n=1000, seeds=3)
    linear = OfflineSpec(environment="linear-synthetic", algorithm="dp-vapvi", n=1100, seeds=2)
    for spec, algorithm in ((small, "DP-KL-LCB, rho 1"), (linear, "DP-VAPVI, rho 1")):
        own, free = dprl.run(spec), dprl.run(spec.baseline())
        both = compare([own, free])
        gaps = both.plot()
        table = gaps.table[gaps.table["curve"] == algorithm]
        np.testing.assert_allclose(table["mean"], own.values.mean(0))
        assert list(table["n"]) == list(own.at)
        drawn = both.plot("privacy cost")
        proved = [one["name"] for one in drawn.figure.to_dict()["data"] if "like 1/n" in one["name"]]
        ours = algorithm.startswith("DP-KL-LCB")  # which no paper's theorem is about
        assert proved == ([] if ours else ["falls like 1/n (Theorem 4.1)"])
        assert "Theorem 3.4" not in drawn.see
        prices = drawn.table
        lower = [np.array([seed.lower for seed in trace.seeds]) for trace in (free, own)]
        np.testing.assert_allclose(prices["mean"], (lower[0] - lower[1]).mean(0))
        assert set(own.plot().table["curve"]) == {algorithm}
        assert own.plot("policy", dark=True).see.startswith("The learned policy is worse")
        for chart, sentence in (
            (own, "measure: privacy cost is relative to the non-private baseline of"),
            (free, "traces: no run is private"),
        ):
            with pytest.raises(SpecError, match=f"^{sentence}"):
                chart.plot("privacy cost")


def test_releases_of_a_file_have_theirs(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_text("".join(model.example().splitlines(keepends=True)[:8001]))
    spec = dprl.upload(file, model.EXAMPLE, rho=10.0)
    runs = [dprl.run(spec), dprl.run(spec.replace(rho=1000.0))]
    policy = runs[0].plot()
    assert list(policy.table["learned"]) == [
        runs[0].spec.public.actions[action] for action in runs[0].seeds[0].policy.ravel()
    ]
    other = dprl.run(spec.replace(beta=0.2))
    with pytest.raises(SpecError, match=r"^traces: upload runs have no chart; give online or offline runs"):
        compare([*runs, other]).plot()


def computed(sweep: Sweep[Any]) -> SweepResult[Any]:
    traces = {spec: dprl.run(spec) for spec in sweep.specs}
    return SweepResult(sweep, {spec: RunCurves(one.at, one.values) for spec, one in traces.items()})


def in_the_background(file: Path) -> None:
    """Runs of run_async have the bits of run, and other tasks go on meanwhile."""
    shares, turns = list[float](), 0
    spec = SPEC.replace(root_seed=1)

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)  # as often as the loop is free, however soon the runs end

    async def both() -> list[dprl.Trace]:
        other = asyncio.create_task(others())
        asked = (dprl.run_async(one, shares.append, store=file) for one in (spec, spec.to_dict()))
        found = await asyncio.gather(*asked, dprl.run_async(SPEC, store=file))
        other.cancel()
        return found

    for trace, own in zip(asyncio.run(both()), (spec, spec, SPEC), strict=True):
        assert trace.spec == own
        np.testing.assert_array_equal(trace.values, dprl.run(own).values)
    assert turns > 5
    assert shares[-1] == 1.0


def test_a_sweep_computes_itself_goes_on_where_it_was_stopped_and_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = Sweep(SPEC, {"epsilon": [1.0, 4.0], "privacy": ["none", "central"]})
    file = tmp_path / "runs.sqlite"
    shares: list[float] = []

    def stop(share: float) -> None:
        shares.append(share)
        if share > 0.3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep.run(store=file, workers=1, progress=stop)
    result: SweepResult[RunSpec] = sweep.run(store=file, progress=shares.append)
    assert shares[-1] == 1.0
    in_the_background(file)
    one = SPEC.replace(root_seed=2)
    np.testing.assert_array_equal(dprl.run(one, shares.append, store=file).values, dprl.run(one).values)
    opened(file).close()
    for spec in sweep.specs:
        np.testing.assert_array_equal(result.curves[spec].values, dprl.run(spec).values)

    monkeypatch.delattr(Store, "begin")  # what is there already needs no worker
    assert dprl.run(one, store=file).seeds[1].seed == 1
    again = sweep.run(store=file, progress=False)
    frame = again.frame()
    assert len(frame) == 4 * SPEC.seeds
    assert list(frame.columns) == ["epsilon", "privacy", "seed", "episode", "regret", "extra_regret"]
    whole = again.frame(whole=True)
    ends = whole[whole["episode"] == SPEC.episodes].reset_index(drop=True)
    np.testing.assert_allclose(ends["extra_regret"], frame["extra_regret"])
    wrong: Any = "regret per episode"
    picture = again.plot()
    assert set(picture.table["curve"]) == {"central"}
    cost = frame[frame["privacy"] == "central"].groupby("epsilon")["extra_regret"].mean()
    np.testing.assert_allclose(picture.table["mean"], cost)
    drawn = again.plot("share").table.set_index(["curve", "ε"])["mean"]
    most = SPEC.episodes * dprl.run(SPEC).seeds[0].v_star
    losses = frame.groupby(["privacy", "epsilon"])["regret"].mean() / most
    np.testing.assert_allclose(drawn.sort_index(), losses.sort_index())
    assert set(again.plot("regret").table["curve"]) == {"none", "central"}
    assert len(again._repr_html_()) < MOST
    for draw, sentence in (
        (lambda: again.plot(wrong), "measure: regret per episode is not drawn for sweeps"),
        (lambda: sweep.run(store=file, workers=0), "workers: 0 is not allowed; give a whole number from 1 to 256"),
        (lambda: sweep.run(store=file, engine="spark"), "engine: spark is not allowed; give the address of a Dask sch"),
        (lambda: Sweep(SPEC, {"environment": ["random"], "algorithm": ["apeve"], "episodes": [5]}).run(store=file),
         "axis: random, apeve, 5 cannot be run; "),
    ):  # fmt: skip
        with refused(sentence):
            draw()
    words = SweepResult(Sweep(SPEC, {"privacy": ["none", "central"]}), again.curves)
    with pytest.raises(SpecError, match="none of them is a number"):
        words.plot()


def test_a_sweep_of_runs_on_data_sets_is_drawn_as_on_trade_offs() -> None:
    base = OfflineSpec(environment_params={"S": 3, "H": 3}, algorithm="dp-apvi", n=1000, seeds=3)
    axes: dict[str, Any] = {"rho": [1.0, 100.0, 1e4], "algorithm": ["apvi", "dp-apvi"], "n": [1000, 10**6]}
    result = computed(Sweep(base, axes))
    frame = result.frame()
    picture, gaps = result.plot("privacy cost"), result.plot("suboptimality")
    for drawn, models in ((picture, {"DP-APVI"}), (gaps, {"APVI", "DP-APVI"})):
        assert set(drawn.table["curve"]) == models
        assert drawn.table["n"].unique().tolist() == ["n = 1,000", "n = 1 million"]  # a panel each
    for drawn, column in ((picture, "extra_gap"), (gaps, "gap")):
        own = frame[frame["algorithm"] == "dp-apvi"].groupby(["n", "rho"])[column].mean()
        np.testing.assert_allclose(drawn.table[drawn.table["curve"] == "DP-APVI"]["mean"], own)
        assert drawn.figure.to_dict()["layout"]["xaxis"]["title"]["text"] == "Privacy budget ρ"
    # along n, what has no privacy is in each panel, whatever the budget
    along = SweepResult(Sweep(base, {name: axes[name] for name in ("n", "algorithm", "rho")}), result.curves)
    panels = along.plot("suboptimality").table
    assert panels.groupby("rho")["curve"].agg(set).tolist() == [{"APVI", "DP-APVI"}] * 3
    attacks: Any = SweepResult(Sweep(AttackSpec(run=SPEC), {"executions": [250]}), {})
    with refused("measure: share is not drawn for sweeps of offline runs; give one of privacy"):
        result.plot("share")
    with refused("sweep: sweeps of attack runs have no chart; give online or offline runs."):
        attacks.plot()


def test_a_task_that_is_cancelled_withdraws_its_run_and_nobody_else_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Store, "begin", lambda self, *_: self)  # nobody computes
    store = opened(tmp_path / "runs.sqlite")

    async def cancelled() -> None:
        first, second = (asyncio.create_task(dprl.run_async(SPEC, store=store.path)) for _ in "ab")
        await asyncio.sleep(0.05)
        assert store.activity().seeds_queued == SPEC.seeds
        for task, left in ((first, SPEC.seeds), (second, 0)):
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()
            assert store.activity().seeds_queued == left

    asyncio.run(cancelled())
    with pytest.raises(SpecError, match="workers: 0 is not allowed"):
        asyncio.run(dprl.run_async(SPEC, workers=0, store=store.path))
    store.close()


WARD = GOOD | {"name": "Ward", "H": 4}


def test_a_model_of_ones_own_is_a_value_of_an_axis() -> None:
    base = dprl.RunSpec("chain", episodes=10_000, seeds=2)
    sweep = dprl.Sweep(base, {"environment": ["riverswim", WARD], "epsilon": [0.3, 3]})
    result = computed(sweep)
    assert result.summary()["environment"].tolist() == ["riverswim", "riverswim", "Ward", "Ward"]
    by_name, by_model = (result.select(environment=one, epsilon=3) for one in ("Ward", WARD))
    assert by_name.spec == by_model.spec == dprl.RunSpec(WARD, episodes=10_000, seeds=2, epsilon=3)
    assert "Ward" in repr(by_name)
    assert "Ward" in [trace.name for trace in result.plot().figure.data]
    assert Sweep.from_dict(json.loads(sweep.to_json())) == sweep


@pytest.mark.parametrize(
    ("models", "fault"),
    [
        ([WARD, WARD | {"R": [[0, 0], [0, 1]]}], "name twice"),
        ([WARD | {"R": [[0, 0], [0, 3]]}], "from 0 to 1"),
        ([{key: value for key, value in WARD.items() if key != "H"}], "Ward has no horizon"),
    ],
)
def test_a_sweep_refuses_models_with_one_name_and_models_with_a_fault(models: list[Any], fault: str) -> None:
    with pytest.raises(dprl.SpecError, match=fault):
        dprl.Sweep(dprl.RunSpec("chain"), {"environment": models})
