"""What the program shows with the papers' own constants, and that the practical presets learn."""

from __future__ import annotations

import numpy as np
import pytest

from dprl import RunSpec, SeedTrace
from dprl.simulation import start


def traces(spec: RunSpec) -> list[SeedTrace]:
    found = []
    for seed in range(spec.seeds):
        run = start(spec, seed)
        while not run.advance(60.0):
            pass
        found.append(run.trace())
    return found


def averages(**changes: object) -> list[float]:
    """Average regret per episode of dp-ucbvi on RiverSwim with printed bonus and noise at epsilon 1, for 5 seeds."""
    given: dict[str, object] = {
        "privacy": "central",
        "mechanism": "laplace-tree",
        "calibration": "paper",
        "epsilon": 1.0,
        "bonus": "paper",
        "schedule": "geometric:0.02",
    }
    spec = RunSpec.from_dict(given | changes)
    return [float(trace.regret[-1]) / spec.episodes for trace in traces(spec)]


def test_printed_constants_learn_by_ten_to_the_fifteen_users() -> None:
    assert max(averages(episodes=10**15)) < 0.05


def test_printed_constants_do_not_learn_by_ten_to_the_ten() -> None:
    assert min(averages(episodes=10**10)) > 3


def test_printed_constants_never_learn_locally() -> None:
    assert min(averages(episodes=10**15, privacy="local", mechanism="laplace")) > 3


@pytest.mark.parametrize(
    ("algorithm", "privacy"),
    [("dp-ucbvi", "central"), ("dp-ucbvi", "none"), ("ucbvi", "none"), ("ucbvi-hoeffding", "none")],
)
def test_no_seed_of_20_is_stuck(algorithm: str, privacy: str) -> None:
    """Practical presets, RiverSwim, the page's default K: a seed is stuck if its last policy loses over 10% of V*."""
    spec = RunSpec(algorithm=algorithm, privacy=privacy, seeds=20)
    assert spec.bonus == "practical"
    assert spec.episodes == 10**9
    loss = np.array([trace.gap[-1] / trace.v_star for trace in traces(spec)])
    assert loss.max() <= 0.1, loss
