"""Whether private runs learn, and whether the outlook says so beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl import RunSpec
from dprl.simulation import outlook, schedules
from dprl.simulation.loops.replan import SeedRun
from dprl.simulation.online import with_users
from dprl.simulation.prepare import noise_of
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


CASES: list[dict[str, Any]] = [
    {"privacy": "central"},
    {"privacy": "central", "epsilon": 0.1},
    {"privacy": "central", "mechanism": "laplace-tree", "calibration": "paper"},
    {"privacy": "shuffle"},
    {"privacy": "local"},
    {"privacy": "local", "epsilon": 10.0},
    {"privacy": "local", "mechanism": "gaussian"},
    {"privacy": "central", "environment_params": {"S": 4, "H": 10}},
]


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES, ids=str)
def test_rule_of_thumb_is_within_a_factor_of_ten(case: dict[str, Any]) -> None:
    """With ten times the users it names a run has learned, in the median of 5 seeds; with a tenth it has not. Where
    rows count who played them it learns step by step, and loses more than a tenth of V* by then."""
    spec = RunSpec(**case)
    named = outlook(spec)
    assert named is not None
    K = named.learns_from
    assert K is not None

    def gap(episodes: int) -> float:
        return float(np.median([finished(spec.replace(episodes=episodes), seed)[1] for seed in range(5)]))

    assert gap(10 * K) < 0.1
    assert gap(K // 10) > (0.1 if spec.reports == "played" else 0.5)


def test_nothing_to_say_without_privacy() -> None:
    assert outlook(RunSpec(privacy="none")) is None
    assert outlook(RunSpec(algorithm="ucbvi")) is None


@pytest.mark.thorough
def test_numbers() -> None:
    """Noise is that of the run; visits are of an optimal user's path."""
    for case in CASES:
        spec = RunSpec(**case, episodes=10**7)
        told = outlook(spec)
        assert told is not None
        assert told.noise_std == pytest.approx(SeedRun(spec, 0).noise.std[-1], rel=0.1)
        assert 0 < told.visits <= spec.episodes


@pytest.mark.parametrize("bonus", ["anytime", "paper"])
@pytest.mark.parametrize("privacy", first(["central", "local", "shuffle"]))
def test_the_noise_that_is_named_is_that_of_the_visits(privacy: str, bonus: str) -> None:
    """On the card and before the run: of the 240 counters n, whose sample standard deviation errs by a fifth with a
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
    told = outlook(spec)
    assert told is not None
    assert told.noise_std == pytest.approx(visits.std(), rel=0.2)
    assert one.trace().guarantee.noise_std == pytest.approx(visits.std(), rel=0.2)


@pytest.mark.parametrize("calibration", ["calibrated", "paper"])
@pytest.mark.parametrize("plan", ["episodic", "geometric:0.02"])
def test_a_preview_of_shuffled_noise_is_its_sum_in_few_batches(plan: str, calibration: str) -> None:
    """A visitor waits for it: a bound on a million batches of one user each takes ten seconds."""
    spec = RunSpec(privacy="shuffle", calibration=calibration, schedule=plan, episodes=3000)
    times = schedules.times(spec.schedule, spec.episodes)
    whole, preview = noise_of(spec, times), noise_of(spec, times, exact=False)
    assert preview.std[-1] == pytest.approx(whole.std[-1], rel=0.05)
    assert preview.bound[-1] == pytest.approx(whole.bound[-1], rel=0.05)
    assert len(whole.std) == len(times) > 10 * len(preview.std)


@pytest.mark.thorough
def test_less_privacy_or_less_to_learn_is_learned_sooner() -> None:
    def learns(**given: Any) -> float:
        told = outlook(RunSpec(**given))
        assert told is not None
        return told.learns_from or np.inf

    assert learns(privacy="central") < learns(privacy="shuffle") < learns(privacy="local")
    assert (
        learns(privacy="central", epsilon=10.0)
        < learns(privacy="central")
        < learns(privacy="central", epsilon=0.1)
    )
    assert learns(privacy="central", bonus="paper") > learns(privacy="central")


@pytest.mark.thorough
def test_what_never_learns_says_none() -> None:
    told = outlook(RunSpec(privacy="local", epsilon=0.001))
    assert told is not None
    assert told.learns_from is None
    # a schedule that cannot be so long
    told = outlook(RunSpec(privacy="central", epsilon=0.01, schedule="episodic", episodes=1000))
    assert told is not None
    assert told.learns_from is None


def test_more_users_have_a_mechanism_with_room_for_them() -> None:
    """Noise that is kept for every release is looked at for as many as it has room for, and no more."""
    short = RunSpec(privacy="central", schedule="episodic", episodes=1000)
    assert short.mechanism == "gaussian-optimal"
    larger = with_users(short, 10**5)
    assert larger is not None
    assert (larger.mechanism, larger.episodes) == ("gaussian-blt", 10**5)
    asked = with_users(short.replace(mechanism="gaussian-toeplitz"), 10**5)
    assert asked is not None
    assert asked.mechanism == "gaussian-blt"
    assert with_users(short, 10**12) is None
