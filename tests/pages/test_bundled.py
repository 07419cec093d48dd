"""The bundled runs are what the engine of today computes."""

from __future__ import annotations

import numpy as np
import pytest

from dprl.simulation import RunSpec, run
from pages.parts.bundled import DIRECTORY, FILES, POINTS, bundled, thinned
from pages.parts.examples import HOME_EPISODES, trust


def recompute(name: str) -> str:
    return f"it is not what the engine computes: run `python -m pages.parts.bundled {name}`"


@pytest.mark.parametrize("name", FILES)
def test_a_file_holds_all_its_runs_and_stays_small(name: str) -> None:
    assert set(bundled(name)) == set(FILES[name]()), recompute(name)
    assert (DIRECTORY / f"{name}.json").stat().st_size < 600_000


@pytest.mark.parametrize(
    "spec", [curve.spec for curve in trust(1.0, HOME_EPISODES).curves], ids=lambda s: s.privacy
)
def test_homes_runs_are_the_engines(spec: RunSpec) -> None:
    trace, kept = run(spec), bundled("home")[spec]
    at = thinned(trace.episodes)
    assert np.array_equal(kept.episodes, trace.episodes[at]), recompute("home")
    assert np.allclose(kept.rows, trace.regret[:, at], rtol=1e-5, atol=0), recompute("home")
    assert kept.noise_std == trace.guarantee.noise_std, recompute("home")


def test_thinning_keeps_the_last_checkpoint_and_an_even_spread() -> None:
    linear = np.arange(1, 10**5 + 1)
    kept = linear[thinned(linear)]
    assert len(kept) <= POINTS
    assert (kept[0], kept[-1]) == (1, 10**5)
    assert np.diff(np.log(kept[len(kept) // 2 :])).max() < 0.13  # 100 steps over five decades are 0.116 each
    few = np.array([3, 5, 10**15])
    assert few[thinned(few)].tolist() == [3, 5, 10**15]
