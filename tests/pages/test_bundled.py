"""The bundled chart is what the engine of today computes."""

from __future__ import annotations

import numpy as np
import pytest

from dprl.simulation import run
from pages.parts.bundled import bundled
from pages.parts.examples import HOME

RECOMPUTE = "it is not what the engine computes: run `python -m pages.parts.bundled`"


def test_every_curve_of_home_is_bundled() -> None:
    assert set(bundled()) == {curve.spec for curve in HOME.curves}, RECOMPUTE


@pytest.mark.parametrize("curve", [HOME.curves[0], HOME.curves[3]], ids=lambda c: c.spec.label())
def test_bundled_runs_are_the_engines(curve: object) -> None:
    spec = curve.spec  # type: ignore[attr-defined]
    trace, kept = run(spec), bundled()[spec]
    assert np.array_equal(kept.episodes, trace.episodes), RECOMPUTE
    assert np.allclose(kept.rows, trace.regret, rtol=1e-8, atol=0), RECOMPUTE
