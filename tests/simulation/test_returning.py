"""Users who return, in runs: attacked with all their episodes, in data sets, and in links."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dprl
from dprl import OfflineSpec, RunSpec, SpecError
from dprl.environments import ENVIRONMENTS
from dprl.learners import OFFLINE
from dprl.mdp import planning
from dprl.metrics.attack import separation, surely
from dprl.privacy import attack
from dprl.privacy.accounting import gaussian_epsilon
from dprl.simulation import AttackSpec, answer, answered
from dprl.simulation.attack import pairs_of
from dprl.simulation.loops import loop_of
from dprl.simulation.loops.offline import noise_of_run
from dprl.simulation.trajectory import Trajectory
from tests.compare import LEVEL
from tests.privacy.oracles import composed, gaussian_loss, laplace_loss
from tests.problems import few, first, of_data, tiny
from tests.simulation.test_attack import measured, scores

M = 3
SMALL = tiny(2, episodes=1000, schedule="geometric:0.3")
MECHANISMS = [
    ("central", "gaussian-optimal"),
    ("local", "unary"),
    ("shuffle", "binomial-sum"),
    ("central", "laplace-tree"),
    ("central", "gaussian-tree"),
    ("central", "gaussian-toeplitz"),
    ("central", "gaussian-blt"),
    ("local", "gaussian"),
    ("local", "laplace"),
    ("shuffle", "binomial-tree"),
]


@pytest.mark.parametrize("places", ["together", "random"])
@pytest.mark.parametrize(("privacy", "mechanism"), first(MECHANISMS))
def test_all_episodes_of_a_user_are_told_apart_no_better_than_is_proved(
    privacy: str, mechanism: str, places: str
) -> None:
    """Together, the attack comes to the proof, and half the noise is caught. Anywhere else, it does not pass it."""
    run = RunSpec(**SMALL, privacy=privacy, mechanism=mechanism, contribution=M)
    executions, seeds = (600, 2) if places == "together" else (150, 8)  # places are drawn for each seed
    spec = AttackSpec(run=run, places=places, executions=executions, seeds=seeds)
    proved = answered(answer("guarantee", spec))["proved_epsilon"]
    assert proved == pytest.approx(1.0, rel=0.01)
    found = measured(spec)
    spread = (found.high - found.low) / (2 * 1.96)
    assert found.value - proved < stats.norm.isf(LEVEL) * spread
    assert surely(*scores(spec), run.delta or 0.0) <= proved
    if places == "together":
        assert abs(found.value - proved) < stats.norm.isf(LEVEL) * spread + 0.05 * (privacy == "shuffle")
        assert measured(spec.replace(noise="half")).low > proved
        one = run.replace(contribution=1)  # whose noise is too little for three episodes
        found_one = measured(AttackSpec(run=one, executions=600, seeds=2))
        assert found_one.low < 1.0 < found_one.high * 1.2


@pytest.mark.parametrize("places", ["together", "random"])
def test_noise_for_one_episode_does_not_hide_three(places: str) -> None:
    """The fault that this kind of attack is there to find: with noise for one episode, more is measured than proved."""
    run = RunSpec(**SMALL, privacy="central")
    noise, size = loop_of(run).noise_of_run(run), run.problem_size
    added = [Trajectory.parse("first", text, size).counts(size).ravel() for text in pairs_of(run)["farthest"]]
    rng = np.random.Generator(np.random.SFC64(5))
    game = attack.game(noise, added[0], added[1], episodes=M, places=rng if places == "random" else None)
    found = separation(*game.play(rng, 2000))
    mu = noise.separation
    assert found.low > (2.5 if places == "together" else 1.5) * mu
    assert found.value <= M * mu * 1.1
    assert gaussian_epsilon(found.low, 1e-6) > 1.2


def test_places_are_those_of_a_unit_and_the_default_is_written_as_before() -> None:
    run = RunSpec(**SMALL, privacy="central", contribution=M)
    spec = AttackSpec(run=run, places="random", executions=50, seeds=2)
    assert dprl.spec_from_json(spec.to_json()) == spec
    assert spec.seed_key(0) != spec.replace(places="together").seed_key(0)
    attack: Any = spec
    a, b = (dprl.run(attack).seeds for _ in range(2))
    np.testing.assert_array_equal(a[0].first, b[0].first)
    alone = AttackSpec(run=run.replace(contribution=1), places="random")
    assert alone.places == "together"
    assert alone.to_dict()["places"] == "together"
    assert alone.to_dict()["run"]["contribution"] == 1
    with pytest.raises(SpecError, match=r"places: nowhere is not allowed; give one of together, random."):
        AttackSpec(run=run, places="nowhere")


@pytest.mark.parametrize("m", [1, 3, 10])
@pytest.mark.parametrize("privacy", ["zcdp", "pure", "approximate"])
@pytest.mark.parametrize(
    "algorithm", ["dp-kl-lcb", "dp-kl-lcb-rewards", "dp-plug-in", "dp-apvi", "dp-apvi-rewards"]
)
def test_noise_of_a_data_set_proves_its_budget_for_m_trajectories(
    algorithm: str, privacy: str, m: int
) -> None:
    """By sums, and by dp-accounting: a person moves everything m times as far."""
    given = tiny(2, n=2000, seeds=1, privacy=privacy, calibration="calibrated", contribution=m)
    spec = OfflineSpec(**given, **of_data(algorithm))
    noise, _ = noise_of_run(spec)
    card, H, apvi = noise.guarantee, 2, "apvi" in algorithm
    moved = (
        {"counts": 4.0 * H} if apvi else {"transitions": 2.0 * H}
    )  # by one trajectory, in the norm of the notion
    if "rewards" in algorithm:
        moved["rewards"] = 2.0 * H
    if privacy != "pure":
        moved = {name: math.sqrt(size) for name, size in moved.items()}
    assert set(moved) == set(noise.scales)
    shifts = {name: m * moved[name] / scale for name, scale in noise.scales.items()}
    if privacy == "zcdp":
        assert sum(x * x / 2 for x in shifts.values()) == pytest.approx(card.proved_rho, rel=1e-9)
        assert card.proved_rho == pytest.approx(1.0, rel=1e-4)
    elif privacy == "pure":
        assert sum(shifts.values()) == pytest.approx(card.proved_epsilon, rel=1e-9)
        assert card.proved_epsilon == pytest.approx(1.0, rel=1e-4)
    else:
        assert card.proved_epsilon == pytest.approx(1.0, rel=1e-3)
    parts = [(gaussian_loss(1, x), 1) for x in shifts.values()]
    if privacy == "pure":
        parts = [(laplace_loss(moved[name], x), round(moved[name])) for name, x in shifts.items()]
    found = [r for r in card.readings if r.adjacency == "replace-one" and r.delta > 1e-12]
    assert len(found) >= 2
    for reading in found:
        assert reading.epsilon == pytest.approx(composed(parts, reading.delta), rel=0.01)
    if "rewards" in algorithm:
        assert noise.scales["rewards"] == 4 * min(noise.scales.values())
    assert card.contribution == m
    assert ("up to" in card.unit) == (m > 1) == (card.returning is None)


def test_every_offline_algorithm_with_noise_takes_a_contribution() -> None:
    """And its noise is m times as large; noise as in the paper stays, and proves m^2 times the rho."""
    for key, learner in OFFLINE.items():
        if learner.privacies == ("none",):
            continue
        given = {"environment": "linear-mdp"} if "features" in learner.public else tiny(2)
        one = OfflineSpec(**given, algorithm=key, n=500, seeds=1, calibration="calibrated")
        for name, scale in noise_of_run(one.replace(contribution=M))[0].scales.items():
            assert scale == pytest.approx(M * noise_of_run(one)[0].scales[name], rel=1e-5)
        if one.privacy in learner.paper_noise:
            paper = one.replace(calibration="paper")
            several, alone = (noise_of_run(paper.replace(contribution=m))[0] for m in (M, 1))
            assert several.scales == alone.scales
            assert several.guarantee.proved_rho == pytest.approx(M**2 * (alone.guarantee.proved_rho or 0.0))


@pytest.mark.parametrize("algorithm", ["dp-kl-lcb", "dp-kl-lcb-rewards"])
def test_the_bound_holds_as_often_with_noise_for_several(algorithm: str) -> None:
    """V~ is below the value of the learned policy, in models that nothing was tuned on."""
    seen = fallen = 0
    for seed in range(3):
        given = tiny(3, n=200_000, seeds=few(8), contribution=M) | of_data(algorithm)
        spec = OfflineSpec(**given | {"environment_params": {"S": 3, "A": 2, "H": 3, "seed": 200 + seed}})
        model = ENVIRONMENTS["random"].make(**spec.environment_params)
        v_star = planning.start_value(model, planning.optimum(model).V)
        for trace in dprl.run(spec).seeds:
            worth = v_star - trace.curve.values
            seen += len(worth)
            fallen += int((trace.lower > worth + 1e-9).sum())
    assert seen > 50
    assert stats.binomtest(fallen, seen, 0.1, alternative="greater").pvalue > LEVEL
    assert (trace.lower[-1] > 0).all()
