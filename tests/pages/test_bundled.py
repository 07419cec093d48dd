"""The bundled charts are what the engine of today computes."""

from __future__ import annotations

import numpy as np
import pytest

from dprl.simulation import RunSpec, run
from pages.parts.bundled import ASSETS, bundled, specs
from pages.parts.examples import HOME
from pages.parts.free_link import BASE

RECOMPUTE = "it is not what the engine computes: run `python -m pages.parts.bundled`"


@pytest.mark.parametrize("name", specs())
def test_every_curve_is_bundled_and_the_file_is_small(name: str) -> None:
    assert set(bundled(name)) == set(specs()[name]), RECOMPUTE
    assert (ASSETS / f"{name}.json").stat().st_size < 400_000


@pytest.mark.parametrize(
    ("name", "spec"),
    [("home", HOME.curves[0].spec), ("home", HOME.curves[3].spec), ("free", BASE.twin())],
    ids=lambda value: value if isinstance(value, str) else value.label(),
)
def test_bundled_runs_are_the_engines(name: str, spec: RunSpec) -> None:
    trace, kept = run(spec), bundled(name)[spec]
    assert np.array_equal(kept.episodes, trace.episodes), RECOMPUTE
    assert np.allclose(kept.rows, trace.regret, rtol=1e-8, atol=0), RECOMPUTE
