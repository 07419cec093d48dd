"""What the program shows with the papers' own constants, and that the defaults learn."""

from __future__ import annotations

import numpy as np
import pytest

from dprl import RunSpec, SeedTrace
from dprl.simulation import start
from dprl.simulation.loops.replan import SeedRun

pytestmark = pytest.mark.usefixtures("few_details", "noise_once")


def traces(spec: RunSpec) -> list[SeedTrace]:
    found = []
    for seed in range(spec.seeds):
        run = start(spec, seed)
        while not run.advance(60.0):
            pass
        found.append(run.trace())
    return found


def averages(**changes: object) -> list[float]:
    """Regret per episode of dp-ucbvi on RiverSwim with the paper's bonus and noise at epsilon 1, for 2 seeds."""
    given: dict[str, object] = {
        "privacy": "central",
        "mechanism": "laplace-tree",
        "calibration": "paper",
        "epsilon": 1.0,
        "bonus": "paper",
        "schedule": "geometric:0.02",
        "seeds": 2,
    }
    spec = RunSpec.from_dict(given | changes)
    return [float(trace.regret[-1]) / spec.episodes for trace in traces(spec)]


def test_paper_constants_learn_by_ten_to_the_fifteen_users() -> None:
    assert max(averages(episodes=10**15)) < 0.05


def test_paper_constants_do_not_learn_by_ten_to_the_ten() -> None:
    assert min(averages(episodes=10**10)) > 3


def test_paper_constants_never_learn_locally() -> None:
    assert min(averages(episodes=10**15, privacy="local", mechanism="laplace")) > 3


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("algorithm", "privacy"),
    [
        ("dp-ucbvi", "central"),
        ("dp-ucbvi", "shuffle"),
        ("dp-ucbvi", "none"),
        ("pucb", "central"),
        ("private-ucb-vi", "central"),
        ("private-ucb-vi", "shuffle"),
        ("ucbvi", "none"),
        ("ucbvi-hoeffding", "none"),
        ("ubev", "none"),
    ],
)
def test_every_seed_of_20_is_settled(algorithm: str, privacy: str) -> None:
    """The default bonus and schedule, RiverSwim, K = 10^12: no seed is short of the best by more than 10^-6 of V*,
    now or on average over the last tenth of the users, and the mean is not carried by a few seeds.

    Problems of many rows need more releases: docs/report/online.md, "If releases run short".
    """
    spec = RunSpec(algorithm=algorithm, privacy=privacy, episodes=10**12, seeds=20)
    assert (spec.bonus, spec.schedule) == ("anytime", "adaptive:0.1")
    final = []
    for seed in range(spec.seeds):
        run = SeedRun(spec, seed)
        while not run.advance(60.0):
            pass
        v_star = float(run.mdp.d1 @ run.setup.V_star)
        _, _, users, regret = run.curve()
        since = int(np.searchsorted(users, 0.9 * spec.episodes))
        assert run.record.gap[-1] <= 1e-6 * v_star
        assert regret[-1] - regret[since] <= 1e-6 * v_star * (users[-1] - users[since])
        final.append(regret[-1])
    assert np.mean(final) < 2 * np.median(final)
