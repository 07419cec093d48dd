"""A spec of another kind passes through traces, store, sweeps and command line, which know the protocol only."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dprl
from dprl import RunSpec, SpecError, Sweep, spec_from_json
from dprl.__main__ import main
from dprl.research.collect import compute_runs
from dprl.runs.store import Store
from dprl.runs.turn import play
from dprl.simulation import KINDS, estimate, trace_from_bytes
from tests.runs.slots import Hand
from tests.toy import TOY, ToySpec, ToyTrace


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, "toy", TOY)


def test_json_names_the_kind_and_that_of_online_specs_does_not() -> None:
    spec = ToySpec(n=50)
    assert json.loads(spec.to_json())["kind"] == "toy"
    assert spec_from_json(spec.to_json()) == spec
    assert "kind" not in RunSpec().to_dict()
    assert spec_from_json(RunSpec().to_json()) == RunSpec()
    with pytest.raises(SpecError, match="online, attack, offline, upload, toy") as error:
        spec_from_json('{"kind": "other"}')
    assert error.value.field == "kind"


def test_run_and_trace() -> None:
    spec = ToySpec(n=50, seeds=3)
    trace = dprl.run(spec)
    assert trace.at[-1] == spec.size == 50
    assert trace.values.shape == (3, len(trace.at))
    assert list(trace.frame().columns) == ["seed", "n", "gap"]
    assert {"final_gap_mean", "ns_per_s"} <= trace.summary().keys()
    assert estimate(spec).releases == 1
    first = trace.seeds[0]
    again = trace_from_bytes(first.to_bytes())
    assert isinstance(first, ToyTrace)
    assert isinstance(again, ToyTrace)
    assert again.spec == spec
    np.testing.assert_array_equal(again.curve.values, first.curve.values)
    np.testing.assert_array_equal(again.means, first.means)
    np.testing.assert_array_equal(again.parts["noise"], first.parts["noise"])


def test_sweep_and_store(tmp_path: Path) -> None:
    sweep = Sweep(ToySpec(n=40), {"n": ["20", 40], "epsilon": [0.5, 1.0]})
    assert [p.spec for p in sweep.points] == [ToySpec(n, e) for n in (20, 40) for e in (0.5, 1.0)]
    assert len(sweep.specs) == 6  # with the baselines
    assert Sweep.from_dict(json.loads(sweep.to_json())) == sweep
    store = Store(tmp_path / "runs.sqlite")
    store.engine.add(Hand(play))
    final = compute_runs(store, sweep.specs, "me")
    for spec in sweep.specs:
        np.testing.assert_array_equal(final[spec], dprl.run(spec).values[:, -1])
        assert [type(t) for t in store.traces(spec)] == [ToyTrace] * spec.seeds
    frame = sweep.frame(final)
    assert list(frame.columns) == ["n", "epsilon", "seed", "gap", "extra_gap"]  # each once
    assert len(frame) == 8
    with pytest.raises(SpecError, match="give one of n, epsilon, seeds"):
        Sweep(ToySpec(), {"privacy": ["none"]})
    store.close()


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "toy.json").write_text(ToySpec(n=50).to_json())
    arguments = ["run", "--spec", str(tmp_path / "toy.json"), "--seeds", "3", "--n", "60"]
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 0
    assert spec_from_json((tmp_path / "out/spec.json").read_text()) == ToySpec(n=60, seeds=3)
    frame = pd.read_csv(tmp_path / "out/gap.csv")
    assert list(frame.columns) == ["seed", "n", "gap"]
    assert json.loads((tmp_path / "out/summary.json").read_text())["final_gap_mean"] > 0
    assert "toy, epsilon 1: final gap" in capsys.readouterr().out
    for wrong, field in (([*arguments, "--env", "chain"], "environment"), (["run", "--n", "5"], "n")):
        with pytest.raises(SystemExit) as stopped:
            main([*wrong, "--out", str(tmp_path / "no")])
        assert stopped.value.code == 2
        error = capsys.readouterr().err
        assert error.startswith(f"dprl: {field}: ")
        assert "no field of a spec of kind" in error
