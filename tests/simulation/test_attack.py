"""Attacks as specs: what they are, what their traces hold, and that they find what is proved and no more.

At the end, users who return: attacked with all their episodes, in data sets, and in links.
"""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dprl
from dprl import OfflineSpec, RunSpec, SpecError, spec_from_json
from dprl.environments import ENVIRONMENTS
from dprl.learners import OFFLINE
from dprl.mdp import Size, planning
from dprl.metrics.attack import Measured, epsilon_of_separation, separation, surely
from dprl.privacy import MECHANISMS, accounting, attack
from dprl.privacy.accounting import epsilon_of, gaussian_epsilon, scaled, separation_of, zcdp_of
from dprl.privacy.losses import Binomial, Gaussian, Laplace
from dprl.privacy.mechanisms import stream_of_releases
from dprl.simulation import AttackSpec, AttackTrace, answer, answered, start, trace_from_bytes
from dprl.simulation.attack import pairs_of, possible_of
from dprl.simulation.loops import loop_of
from dprl.simulation.loops.offline import noise_of_run
from dprl.simulation.online import promise as promise_of
from dprl.simulation.trajectory import Trajectory, farthest, nearest
from tests.compare import LEVEL
from tests.privacy.draws import unit_noise
from tests.privacy.oracles import composed, gaussian_loss, laplace_loss
from tests.problems import few, first, of_data, refused, tiny

SMALL = tiny(2, episodes=1000)
QUESTIONS: dict[str, Any] = {"privacy": "local", "mechanism": "unary"}
RUNS = {key: RunSpec(**SMALL, privacy=key) for key in ("central", "local", "shuffle")}
# The same of a problem in which it is declared which next states are possible.
WALLS = SMALL | {"environment": "chain", "environment_params": {"S": 4, "H": 3}, "structure": "environment"}
DECLARED = [*(RunSpec(**WALLS, privacy=key) for key in ("central", "shuffle")), RunSpec(**WALLS, **QUESTIONS)]

promise: Any = cache(promise_of)


@cache
def scores(spec: AttackSpec) -> tuple[np.ndarray, np.ndarray]:
    traces: Any = dprl.run(spec).seeds
    return np.concatenate([t.first for t in traces]), np.concatenate([t.second for t in traces])


def measured(spec: AttackSpec) -> Measured:
    """The epsilon that the attack finds at the run's own delta."""
    found = promise(spec.run)
    return epsilon_of_separation(
        separation(*scores(spec)), np.array(found["separations"]), np.array(found["measures"])
    )


def test_a_spec_is_canonical_and_passes_through_json() -> None:
    run = RunSpec(**SMALL, seeds=7, root_seed=3)
    spec = AttackSpec(run=run)
    assert spec == AttackSpec(run=run.replace(seeds=2), first="0/0/1*2", second="2/0/1 2/0/1")
    assert (spec.first, spec.second) == farthest(Size(3, 2, 2))
    assert spec_from_json(spec.to_json()) == spec
    assert hash(spec.replace(noise="half")) != hash(spec)
    assert spec.replace(seeds=3).seed_key(1) == spec.seed_key(1) != spec.seed_key(0)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"first": "3/0/1"}, "first"),
        ({"second": "0/2/1"}, "second"),
        ({"second": "0/0/1*3"}, "second"),
        ({"first": "0-0-1"}, "first"),
        ({"first": "0/0/2"}, "first"),
        ({"noise": "twice"}, "noise"),
        ({"executions": 1}, "executions"),
        ({"run": RUNS["central"].baseline()}, "privacy"),
        ({"run": RunSpec(algorithm="sdp-pe", privacy="shuffle", **tiny(2, episodes=10**13))}, "algorithm"),
        ({"run": RunSpec(episodes=10**6, schedule="geometric:0.001"), "executions": 5000}, "schedule"),
    ],
)
def test_what_is_refused_names_its_field(changes: dict[str, object], field: str) -> None:
    with refused(f"{field}: "):
        AttackSpec(**{"run": RUNS["central"], **changes})  # type: ignore[arg-type]


def test_trajectories_are_read_written_and_counted() -> None:
    size = Size(3, 2, 4)
    one = Trajectory.parse("first", "0/0/1*2 1/1/0", size)
    assert one.steps == ((0, 0, 1), (0, 0, 1), (1, 1, 0), (1, 1, 0))
    assert one.text == "0/0/1*2 1/1/0"
    counts = one.counts(size)
    assert counts[1, 0, 0].tolist() == [0, 1, 0, 1, 1]  # from state 0 to state 1, with a reward
    assert counts[3, 1, 1].tolist() == [0, 1, 0, 1, 0]
    assert counts[..., size.S].sum() == size.H
    for each, pair_of, cells in ((size, farthest, 24), (size, nearest, 1), (Size(1, 2, 3), farthest, 18)):
        a, b = (Trajectory.parse("first", text, each).counts(each) for text in pair_of(each))
        assert (a != b).sum() == cells


@pytest.mark.parametrize(
    "run", [*DECLARED, RunSpec(**WALLS | {"environment": "gridworld", "environment_params": {}})]
)
def test_episodes_keep_to_what_is_declared_possible(run: RunSpec) -> None:
    size, table = run.problem_size, possible_of(run)
    assert table is not None
    for pair, cells in zip(pairs_of(run).values(), (6 * size.H, 1), strict=True):
        a, b = (Trajectory.parse("first", text, size).counts(size, table) for text in pair)
        assert (a != b).sum() == cells
        assert a[..., -2].sum() == b[..., -2].sum() == size.H  # nothing of them is left out
        assert a.shape[3] < size.S + 2


def test_a_step_that_is_not_declared_is_left_out() -> None:
    size, table = Size(3, 1, 3), np.array([[[[0, 1]], [[1, -1]], [[2, -1]]]])
    counts = Trajectory.parse("first", "0/0/1 1/0/1 0/0/1", size).counts(size, table)
    assert counts[0, 0, 0].tolist() == [0, 1, 1, 1]
    assert not counts[1].any()  # from state 1 to state 0
    assert counts[2, 0, 0].tolist() == [1, 0, 1, 1]  # where the episode ends nobody said: it stays
    assert Trajectory.parse("first", "2/0/0", size).counts(size, table)[..., -2].sum() == 3


def test_the_same_spec_has_the_same_scores_however_it_is_sliced() -> None:
    spec = AttackSpec(run=RUNS["central"], executions=50, seeds=1)
    first, second = start(spec, 0), start(spec, 0)
    first.advance(60.0)
    while not second.advance(0.0):
        assert 0 < second.progress < 1
    a, b = first.trace(), second.trace()
    np.testing.assert_array_equal(a.first, b.first)
    assert len(a.first) == len(a.second) == 50
    assert a.curve.at[-1] == spec.size
    again = trace_from_bytes(a.to_bytes())
    assert isinstance(again, AttackTrace)
    assert again.spec == spec
    np.testing.assert_array_equal(again.second, a.second)
    assert a.v_star == pytest.approx(promise(spec.run)["separation"])


@pytest.mark.thorough
@pytest.mark.parametrize("run", [*RUNS.values(), RunSpec(**SMALL, **QUESTIONS), *DECLARED])
def test_what_is_measured_is_not_above_the_proof_and_half_the_noise_is_caught(run: RunSpec) -> None:
    spec = AttackSpec(run=run, executions=1500, seeds=2)
    proved = answered(answer("guarantee", spec))["proved_epsilon"]
    found = measured(spec)
    spread = (found.high - found.low) / (2 * 1.96)
    assert found.high - found.low < 0.5
    assert abs(found.value - proved) < stats.norm.isf(LEVEL) * spread  # and the best attack reaches it
    assert surely(*scores(spec), spec.run.delta or 0.0) <= proved
    caught = measured(spec.replace(noise="half"))
    assert caught.low > proved
    assert caught.value == pytest.approx(2.1 * proved, rel=0.25)


def test_paper_noise_is_caught_when_a_user_is_replaced() -> None:
    run = RUNS["local"].replace(calibration="paper")
    found = measured(AttackSpec(run=run, executions=1500, seeds=2))
    assert run.delta == 0
    assert run.epsilon == 1.0
    assert found.low > 1.0
    assert found.low < 2.0 < found.high


@pytest.mark.parametrize("key", ["gaussian-tree", "laplace-tree"])
def test_what_a_tree_tells_of_its_first_item_is_in_the_prefixes_of_two_four_eight(key: str) -> None:
    mechanism, whole = MECHANISMS[key], stream_of_releases(13)
    few = mechanism.telling(whole)
    assert few.leaves.tolist() == [0, 1, 2, 4, 8, -1]
    first, second = np.array([0.5, 0.0]), np.array([0.0, 0.25])
    seen = first + unit_noise(mechanism, whole, 2 * 50, 1).reshape(13, 50, 2)
    np.testing.assert_allclose(
        mechanism.log_ratio(whole, seen, 0, first, second),
        mechanism.log_ratio(few, seen[[0, 1, 3, 7]], 0, first, second),
        atol=1e-12,
    )
    with pytest.raises(ValueError, match="do not determine"):
        mechanism.log_ratio(few.__class__(np.array([0, 3, 5, -1]), few.batches), seen[:2], 0, first, second)


def test_the_promise_of_gaussian_noise_is_that_of_its_mu() -> None:
    found = promise(RUNS["central"])
    mu = found["separation"]
    assert found["right"] == pytest.approx(stats.norm.cdf(mu / 2), rel=1e-6)
    assert found["rho"] == pytest.approx(mu**2 / 2)
    false, missed = np.array(found["false"]), np.array(found["missed"])
    best = stats.norm.cdf(stats.norm.isf(false) - mu)
    assert np.all(missed <= best + 1e-9)  # what is drawn as proved is proved
    assert np.all(missed >= best - 2e-3)
    assert np.interp(-6, np.log10(found["deltas"]), found["epsilons"]) == pytest.approx(1.0, rel=1e-4)
    assert promise(RUNS["central"].baseline()) is None


def test_the_separation_of_laplace_noise_is_that_of_its_losses() -> None:
    x = np.linspace(-40, 40, 800_001)
    density = np.exp(-np.abs(x)) / np.exp(-np.abs(x)).sum()
    for shift in (0.05, 1.5):
        loss = np.abs(x + shift) - np.abs(x)
        mean = density @ loss
        expected = 2 * mean / np.sqrt(density @ (loss - mean) ** 2)
        assert separation_of((Laplace(9, shift),)) == pytest.approx(3 * expected, rel=1e-4)
    assert separation_of((Gaussian(0.3), Gaussian(0.4))) == pytest.approx(0.5)


def test_noise_half_as_large_moves_twice_as_many_standard_deviations() -> None:
    assert scaled((Gaussian(0.3), Laplace(4, 0.1)), 0.5) == (Gaussian(0.6), Laplace(4, 0.2))
    (bits,) = scaled((Binomial(1000, 0.5, 3, 3),), 0.5)
    assert bits == Binomial(250, 0.5, 3, 3)
    assert zcdp_of((Gaussian(0.2), Laplace(4, 0.1))) == pytest.approx(0.02 + 0.02)
    assert zcdp_of((bits,)) == math.inf
    assert epsilon_of(scaled((Laplace(4, 0.1),), 0.5), 0.0) == pytest.approx(0.8)
    assert accounting.delta_of((), 1.0) == 0.0


def test_two_users_read_the_third_from_one_draw_and_not_from_a_tree() -> None:
    found = answered(answer("collusion", AttackSpec(run=RUNS["central"])))
    visits, tree = np.array(found["visits"]), np.array(found["tree"])
    sums = np.cumsum(visits)
    one = sums + found["one"]
    np.testing.assert_allclose(one[2:] - one[:-2] - visits[2:], visits[1:-1], atol=1e-12)
    wrong = (sums + tree)[2:] - (sums + tree)[:-2] - visits[2:] - visits[1:-1]
    assert np.all(np.abs(wrong) > 0.01)
    assert found["scale"] == 4.0
    json.dumps(found)
    assert math.isfinite(found["one"])


M = 3
FEW_RELEASES = SMALL | {"schedule": "geometric:0.3"}
PAIRS = [
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
@pytest.mark.parametrize(("privacy", "mechanism"), first(PAIRS))
def test_all_episodes_of_a_user_are_told_apart_no_better_than_is_proved(
    privacy: str, mechanism: str, places: str
) -> None:
    """Together, the attack comes to the proof, and half the noise is caught. Anywhere else, it does not pass it."""
    run = RunSpec(**FEW_RELEASES, privacy=privacy, mechanism=mechanism, contribution=M)
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
    run = RunSpec(**FEW_RELEASES, privacy="central")
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
    run = RunSpec(**FEW_RELEASES, privacy="central", contribution=M)
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


@pytest.mark.parametrize("m", [*(pytest.param(m, marks=pytest.mark.thorough) for m in (1, 3)), 10])
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
    moved = {"counts": 4.0 * H} if apvi else {"transitions": 2.0 * H}  # by one trajectory, in the norm
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
