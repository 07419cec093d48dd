"""Private runs learn, and the noise that is named before they run is that of their counts."""

from __future__ import annotations

import numpy as np
import pytest

from dprl import RunSpec
from dprl.simulation.loops.replan import SeedRun
from tests.problems import first

SEEDS = 20

pytestmark = pytest.mark.usefixtures("few_details")


def finished(spec: RunSpec, seed: int) -> tuple[float, float]:
    """Average regret of an episode, and that of the last tenth of users as a share of the optimal value.

    (Not that of the last policy: it may be a try of something that was tried too little.)
    """
    run = SeedRun(spec, seed)
    while not run.advance(60.0):
        pass
    v_star = float(run.setup.d1 @ run.setup.V_star)
    users, regret = run.record.users, run.record.regret
    late = int(np.searchsorted(users, 0.9 * spec.episodes))
    lost = (regret[-1] - regret[late]) / (users[-1] - users[late])
    return float(regret[-1]) / spec.episodes, float(lost) / v_star


@pytest.mark.parametrize(("episodes", "regret"), first([(10**6, 1.0), (10**8, 0.05)]))
def test_the_best_central_mechanism_learns_riverswim(episodes: int, regret: float) -> None:
    """Issue 3: every seed, by 10^6 users and by 10^8, at epsilon = 1."""
    spec = RunSpec(privacy="central", mechanism="gaussian-optimal", epsilon=1.0, episodes=episodes)
    assert (spec.environment, spec.algorithm, spec.bonus, spec.calibration) == (
        "riverswim",
        "dp-ucbvi",
        "anytime",
        "calibrated",
    )
    ended = [finished(spec, seed) for seed in range(SEEDS)]
    assert max(r for r, _ in ended) < regret
    assert max(g for _, g in ended) < 0.1


@pytest.mark.parametrize("bonus", ["anytime", "paper"])
@pytest.mark.parametrize("privacy", first(["central", "local", "shuffle"]))
def test_the_noise_that_is_named_is_that_of_the_visits(privacy: str, bonus: str) -> None:
    """On the card: of the 240 counters n, whose sample standard deviation errs by a fifth with a
    chance below 1e-4. Where rows count who played them it is that of a row that everybody was told to play."""
    spec = RunSpec(privacy=privacy, bonus=bonus, schedule="geometric:0.1", episodes=10_000, seeds=1)
    one = SeedRun(spec, 0)
    while not one.advance(60.0):
        pass
    visits = (one.state.noisy - one.state.counts)[..., -2]
    if spec.reports == "played":
        told_to = one.state.kept > 0
        assert not visits[~told_to].any()
        visits = visits[told_to] * np.sqrt(spec.episodes / one.state.kept[told_to])
    assert one.trace().guarantee.noise_std == pytest.approx(visits.std(), rel=0.2)
