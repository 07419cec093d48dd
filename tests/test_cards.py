"""What a notebook shows of many runs at once."""

from __future__ import annotations

import re

import numpy as np

import dprl
from dprl import RunSpec, Sweep
from dprl.metrics.curves import RunCurves
from dprl.research import SweepResult

SPEC = RunSpec(environment_params={"S": 3, "H": 3}, episodes=1000, seeds=3)
MOST = 2000  # characters of text that a cell of a notebook puts out


def test_of_many_runs_a_notebook_shows_some() -> None:
    budgets = [round(0.1 * 1.01**k, 6) for k in range(400)]
    sweep = Sweep(SPEC, {"epsilon": budgets})
    end = np.array([SPEC.episodes])
    curves = {spec: RunCurves(end, np.full((SPEC.seeds, 1), 1234.5)) for spec in sweep.specs}
    whole, parts = (
        SweepResult(sweep, curves),
        Sweep(SPEC, {"privacy": ["none", "local"], "epsilon": budgets[:200]}),
    )
    both = SweepResult(parts, {spec: curves[SPEC.baseline()] for spec in parts.specs})
    run = dprl.run(SPEC)
    many = dprl.compare({f"a run with a name of its own, {k}": run for k in range(40)})
    for shown in (sweep, parts, whole, both, many):
        text = re.sub(r"<[^<>]*>", "", shown._repr_html_())
        assert len(text) < MOST
        assert len(repr(shown)) < MOST
        assert " more" in text or "..." in text
    few = SweepResult(Sweep(SPEC, {"epsilon": budgets[:3]}), curves)
    assert few._repr_html_().count("<tr") == 4
    assert "..." not in few._repr_html_()
