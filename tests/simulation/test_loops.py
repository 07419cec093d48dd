"""What all loops do alike: the same bits compiled, plain and however a run is sliced, and how a run begins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl import ALGORITHMS, RunSpec
from dprl.simulation import start, trace_from_bytes
from dprl.simulation.loops import LOOPS
from tests.problems import PAIRS, STAGED, loop
from tests.simulation import test_engine, test_stages
from tests.simulation.test_engine import finished, same_bits

LOCK: dict[str, Any] = {"stages": 2, "drugs": 2, "symptoms": 2, "H": 4}
LINEAR: dict[str, dict[str, Any]] = {
    "regress": {"environment": "linear-mixture", "environment_params": {"d": 3, "S": 3, "H": 4}},
    "batches": {"environment": "linear-mdp", "environment_params": LOCK},
}
LEARNERS = [key for key in ALGORITHMS if loop(key) in LINEAR]
PAPER = {"calibration": "paper", "bonus": "paper"}
WAYS: dict[str, list[dict[str, Any]]] = {
    "regress": [
        {"privacy": "none", "schedule": "episodic", "episodes": 40},
        {"privacy": "central", "episodes": 10**12},
        {"privacy": "central", "episodes": 10**12, **PAPER},
        {"privacy": "local", "schedule": "geometric:0.5", "episodes": 10**10},
    ],
    "batches": [
        {"privacy": "none", "episodes": 2000},
        {"privacy": "central", "episodes": 10**7},
        {"privacy": "central", "mechanism": "laplace-tree", "delta": 0.0, "episodes": 10**8},
        {"privacy": "central", "episodes": 10**6, **PAPER},
    ],
}
NOISY = {"regress": ["paper"], "batches": ["anytime", "paper"]}  # bonuses


def spec(key: str, **given: Any) -> RunSpec:
    """A small run of a learner of a linear model."""
    return RunSpec(**{"episodes": 10**6, "seeds": 1} | LINEAR[loop(key)] | given, algorithm=key)


def begun(asked: RunSpec, seed: int, **how: Any) -> Any:
    run: Any = LOOPS[loop(asked.algorithm)]
    return run(asked, seed, **how)


@pytest.mark.usefixtures("noise_once", "nothing_proved")  # neither is told how the loop is played
@pytest.mark.parametrize(("key", "way"), [(key, way) for key in LEARNERS for way in WAYS[loop(key)]])
def test_compiled_and_plain_python_give_the_same_bits(key: str, way: dict[str, Any]) -> None:
    """Of learners on counts: test_engine.py."""
    same_bits(*(finished(begun(spec(key, **way), 5, plain=plain)) for plain in (False, True)))


RUNS = {
    **{f"{a} {p}": test_engine.spec_of(a, p, episodes=10**6) for a, p in PAIRS},
    **{f"{a} {p}": test_stages.spec_of(a, p) for a, p in [*STAGED, ("apeve-relaxed", "none")]},
    **{key: spec(key, privacy="central") for key in LEARNERS},
}


@pytest.mark.usefixtures("nothing_proved")
@pytest.mark.parametrize("name", RUNS)
def test_slices_change_no_bits_and_what_there_is_on_the_way_is_the_beginning(name: str) -> None:
    whole, sliced = start(RUNS[name], 0), start(RUNS[name], 0)
    assert whole.advance(1e9)
    all_of_it: Any = whole.trace()
    empty: Any = sliced.trace()
    assert not empty.complete
    assert len(empty.episodes) == len(empty.detail_episodes) == 0
    shares, seen = [0.0], []
    while not sliced.advance(1e-9):  # however short the time, some work is done
        shares.append(sliced.progress)
        seen.append(sliced.curve()[2:])
        assert len(shares) < 10_000
        if len(shares) in (2, 4, 20):  # cancelled here, it would leave this
            partial: Any = sliced.trace()
            again: Any = trace_from_bytes(partial.to_bytes())
            assert not partial.complete
            assert not again.complete
            assert len(partial.episodes) < len(all_of_it.episodes)
            np.testing.assert_array_equal(partial.episodes, seen[-1][0])
            np.testing.assert_array_equal(again.regret, partial.regret)
            assert {len(values) for values in partial.series.values()} <= {len(partial.detail_episodes)}
    assert len(shares) > 3
    assert shares == sorted(shares)
    assert sliced.progress == 1.0
    same_bits(all_of_it, sliced.trace())
    for episodes, regret in seen:
        np.testing.assert_array_equal(episodes, all_of_it.episodes[: len(episodes)])
        np.testing.assert_array_equal(regret, all_of_it.regret[: len(regret)])


@pytest.mark.parametrize(("key", "bonus"), [(key, bonus) for key in LEARNERS for bonus in NOISY[loop(key)]])
def test_matrices_that_noise_makes_indefinite_are_counted_and_tell_nothing(key: str, bonus: str) -> None:
    """Their step is planned with the most that could be."""
    run = begun(spec(key, privacy="central", bonus=bonus), 0)
    told = "error" if loop(key) == "regress" else "shift"
    nothing = {told: np.zeros_like(getattr(run.setup, told))}
    run.setup = run.setup._replace(scales=run.setup.scales * 1e9, **nothing)
    trace = finished(run)
    assert trace.series["indefinite"][-1] > 20
    assert (np.diff(trace.series["indefinite"]) >= 0).all()
    assert np.isfinite(trace.Q).all()
    assert (trace.Q <= run.mdp.H).all()
