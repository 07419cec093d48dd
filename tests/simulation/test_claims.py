"""What the program shows with the papers' own constants, and that the defaults learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dprl import RunSpec, SeedTrace
from dprl.simulation import schedules, start
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
    """Regret per episode of dp-ucbvi on RiverSwim with the paper's bonus and noise at epsilon 1, for 5 seeds."""
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

    Other problems: docs/notes/constants.md.
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


# --- PUCB with V20's constants and noise


@dataclass(frozen=True)
class Burned:
    """burn_in: users until a policy loses less than half of what the first one did; lost: per user over the whole run,
    as a share of that; final: loss of the last policy, likewise."""

    burn_in: float
    lost: float
    final: float


def burned(environment_seed: int, epsilon: float | None) -> Burned:
    """PUCB on a random MDP with S=3, A=2, H=3 and K = 10^12; every release is recorded."""
    private: dict[str, Any] = {"mechanism": "laplace-tree", "calibration": "paper", "epsilon": epsilon}
    spec = RunSpec(
        environment="random",
        environment_params={"S": 3, "A": 2, "H": 3, "seed": environment_seed},
        algorithm="pucb",
        privacy="central" if epsilon else "none",
        bonus="paper",
        episodes=10**12,
        schedule="geometric:0.02",
        seeds=1,
        **(private if epsilon else {}),
    )
    run = SeedRun(spec, 0)
    assert run.advance(60.0)
    gap, first = run.record.gap, run.record.gap[0]
    learned = np.flatnonzero(gap < first / 2)
    assert len(learned), "it never learned"
    burn_in = float(run.record.users[learned[0]])
    return Burned(burn_in, float(run.record.regret[-1] / spec.episodes / first), float(gap[-1] / first))


EPSILONS = (0.01, 0.1, 1.0, 10.0)


@pytest.mark.thorough
@pytest.mark.parametrize("environment_seed", [0, 3])
def test_pucb_burns_in_and_then_learns_later_the_more_private_it_is(
    monkeypatch: pytest.MonkeyPatch, environment_seed: int
) -> None:
    """Issue 4, point 2. At one K, for E contains ln(K)^{5/2}. Where the first policy loses at least 0.3.

    Measured over ten such environments, five seeds each: burn-in grows as (1/epsilon)^0.997, 0.983 to 1.008.
    """
    every = schedules.times("geometric:0.02", 10**12)
    monkeypatch.setattr(schedules, "targets", lambda K, *counts: every)
    found = [burned(environment_seed, epsilon) for epsilon in EPSILONS]
    baseline = burned(environment_seed, None)
    exponent = -np.polyfit(np.log(EPSILONS), np.log([x.burn_in for x in found]), 1)[0]
    assert 0.97 < exponent < 1.03
    for x in (*found, baseline):
        assert x.burn_in < 10**12 / 50
        assert x.lost < 0.1
        assert x.final < 0.05
    assert found[0].burn_in > 10**9  # a long plain
    assert baseline.burn_in < found[-1].burn_in / 100
