"""What a notebook shows of an object is a few lines, whatever it holds."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import dprl
from dprl.metrics.curves import RunCurves
from dprl.simulation import AttackSpec, Trace
from dprl.simulation.uploads import kept
from tests.problems import tiny

MOST = 1000  # characters; of many runs twice that
TINY = tiny(3)
ONLINE = dprl.RunSpec(**TINY, episodes=1000, seeds=2)
PUBLIC = {
    "states": ["a", "b"],
    "actions": ["x", "y"],
    "horizon": 2,
    "rewards": [[0, 0], [1, 1]],
    "start": "a",
}
ROWS = "episode,step,state,action,reward,next_state\n1,0,a,x,0,b\n1,1,b,y,1,a\n2,0,a,x,0,b\n2,1,b,x,0,a\n"
SPECS: dict[str, Callable[[], Any]] = {
    "online": lambda: ONLINE,
    "offline": lambda: dprl.OfflineSpec(**TINY, n=1000, seeds=2),
    "attack": lambda: AttackSpec(run=ONLINE, executions=4, seeds=1),
    "upload": lambda: dprl.upload(io.BytesIO(ROWS.encode()), PUBLIC, held_out=0.0),
}


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trace]:
    """A run of each kind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept, "home", lambda: tmp_path_factory.getbasetemp() / "home")
        return {kind: dprl.run(spec()) for kind, spec in SPECS.items()}


def whatever(names: Iterable[tuple[str, Any]]) -> None:
    """Each prints something, in at most MOST characters."""
    for name, thing in names:
        assert 0 < len(repr(thing)) <= MOST, (name, len(repr(thing)), repr(thing)[:200])


@pytest.mark.parametrize("kind", SPECS)
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
    S = 40
    ring = {"P": np.eye(S)[:, None].tolist(), "R": [[0.5]] * S, "d1": [1.0] + [0.0] * (S - 1)}
    spec = dprl.RunSpec(environment="custom", environment_params={"model": json.dumps(ring)}, episodes=1000)
    assert len(spec.to_json()) > 4 * MOST
    whatever([("custom", spec), ("attack", AttackSpec(run=spec))])


def test_of_many_runs_a_notebook_shows_some() -> None:
    budgets = [round(0.1 * 1.01**k, 6) for k in range(100)]
    sweep = dprl.Sweep(ONLINE, {"epsilon": budgets})
    end = np.array([ONLINE.episodes])
    curves = {spec: RunCurves(end, np.full((ONLINE.seeds, 1), 1234.5)) for spec in sweep.specs}
    whole, parts = (
        dprl.SweepResult(sweep, curves),
        dprl.Sweep(ONLINE, {"privacy": ["none", "local"], "epsilon": budgets[:50]}),
    )
    both = dprl.SweepResult(parts, {spec: curves[ONLINE.baseline()] for spec in parts.specs})
    run = dprl.run(ONLINE)
    many = dprl.compare({f"a run with a name of its own, {k}": run for k in range(40)})
    for shown in (sweep, parts, whole, both, many):
        text = re.sub(r"<[^<>]*>", "", shown._repr_html_())
        assert len(text) < 2 * MOST
        assert len(repr(shown)) < 2 * MOST
        assert " more" in text or "..." in text
    few = dprl.SweepResult(dprl.Sweep(ONLINE, {"epsilon": budgets[:3]}), curves)
    assert few._repr_html_().count("<tr") == 4
    assert "..." not in few._repr_html_()
