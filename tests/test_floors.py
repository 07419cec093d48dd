"""Lower bounds for two models: what they are made of is checked by hand, and no algorithm has ever been below one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

from dprl import RunSpec, SpecError, TabularMDP, run
from dprl.landscape import PROBLEMS
from dprl.landscape.floors import Neighbours, dense, neighbours
from dprl.landscape.lower import LowerBound, bounds, problem_model
from dprl.mdp.planning import policy_values
from dprl.theory.floor import Pairs, local_kl, regret_floor, unlike, unlike_sum, users_floor
from tests.problems import few, random_mdp

Array = NDArray[np.float64]
TINY = PROBLEMS["random-tiny"]
MODELS = {"none": (1.0, 0.0), "central": (1.0, 1e-6), "shuffle": (1.0, 1e-6), "local": (1.0, 1e-6)}


def policies(mdp: TabularMDP) -> Iterator[NDArray[np.int64]]:
    """Every policy."""
    for actions in itertools.product(range(mdp.A), repeat=mdp.H * mdp.S):
        yield np.array(actions, np.int64).reshape(mdp.H, mdp.S)


def losses(mdp: TabularMDP, other: TabularMDP) -> tuple[Array, Array]:
    """What each policy loses in an episode of both models."""
    found = [
        np.array([float(one.d1 @ policy_values(one, policy)[0]) for policy in policies(one)])
        for one in (mdp, other)
    ]
    return found[0].max() - found[0], found[1].max() - found[1]


def answers(mdp: TabularMDP, h: int, s: int, a: int) -> Array:
    """[S, 2] how likely a row answers with a next state and a reward."""
    pays = mdp.R[h, s, a]
    return np.outer(dense(mdp)[h, s, a], [1 - pays, pays]).ravel()


@pytest.mark.parametrize("seed", range(3))
def test_numbers_of_a_pair_are_those_of_all_policies_and_all_answers(seed: int) -> None:
    mdp = random_mdp(seed, 2, 2, 2, sparse=seed == 2)
    found = neighbours(mdp)
    rng = np.random.default_rng(seed)
    assert len(found.found) > 50
    for i in rng.choice(len(found.found), few(40)):
        one = found.found[i]
        other = one.of(mdp)
        here, there = losses(mdp, other)
        assert found.pairs.apart[i] == pytest.approx((here + there).min(), abs=1e-12)
        p, q = answers(mdp, one.h, one.s, one.a), answers(other, one.h, one.s, one.a)
        first, second = (p, q) if one.base else (q, p)
        assert found.pairs.kl[i] == pytest.approx(stats.entropy(first, second), abs=1e-9)
        assert found.pairs.tv[i] >= np.abs(p - q).sum() / 2 - 1e-12
        assert found.pairs.some[i] >= found.pairs.reach[i] - 1e-12
        # an episode that plays the row with a chance loses at least its gap times that chance in the base
        base, lost = (mdp, here) if one.base else (other, there)
        for policy, loses in zip(policies(base), lost, strict=True):
            visits = (
                float(base.d1[one.s])
                if one.h == 0
                else float(sum(base.d1[s] * dense(base)[0, s, policy[0, s], one.s] for s in range(base.S)))
            )
            assert visits <= found.pairs.reach[i] + 1e-12
            if policy[one.h, one.s] == one.a:
                assert loses >= found.pairs.gap[i] * visits - 1e-9


def test_a_neighbour_keeps_to_what_is_public() -> None:
    mdp = random_mdp(0, 3, 2, 2, sparse=True)
    for one in neighbours(mdp, support=True).found:
        assert not (one.P[dense(mdp)[one.h, one.s, one.a] == 0] > 0).any()
    fixed = neighbours(random_mdp(1, 2, 2, 2, bernoulli=False))
    assert all(one.R == random_mdp(1, 2, 2, 2).R[one.h, one.s, one.a] for one in fixed.found)


def test_two_laws_are_as_alike_as_their_divergence_says() -> None:
    rng = np.random.default_rng(0)
    for _ in range(few(2000)):
        p, q = rng.dirichlet(np.full(3, rng.choice([0.1, 1.0, 10.0])), 2) + 1e-12
        p, q = p / p.sum(), q / q.sum()
        assert 1 - np.abs(p - q).sum() / 2 >= unlike(np.array(stats.entropy(p, q))) - 1e-12
    for x in (0.01, 1.0, 1.6, 5.0, 40.0):
        assert unlike_sum(np.array(x)) == pytest.approx(
            integrate.quad(unlike, 0, x, points=[1.59])[0], rel=1e-5
        )


def pair(**numbers: float) -> Pairs:
    """One pair."""
    return Pairs(**{name: np.array([numbers.get(name, 1.0)]) for name in Pairs.__dataclass_fields__})


def test_the_group_of_users_that_a_curator_hides_is_no_larger_than_proved() -> None:
    # its answer leans on a count as much as epsilon allows; each user's answer differs with chance tv
    for epsilon, tv in itertools.product((0.2, 1.0, 3.0), (0.01, 0.3)):
        apart = 0.0
        for K in range(1, few(60) + 1):
            counts = np.arange(K)
            logit = epsilon * (counts - (K - 1) * (0.4 + tv / 2))
            yes = 1 / (1 + np.exp(-logit))
            here, there = (stats.binom.pmf(counts, K - 1, chance) @ yes for chance in (0.4, 0.4 + tv))
            apart += 1 - abs(here - there)
            if K in (1, 2, 5, 15, 60):
                floor = regret_floor(pair(apart=2.0, gap=0.0, kl=np.inf, tv=tv), K, "central", epsilon)[0]
                assert floor <= apart + 1e-9


def test_a_report_tells_no_more_than_proved() -> None:
    rng = np.random.default_rng(1)
    for _ in range(few(1000)):
        p, q = rng.dirichlet(np.ones(3), 2)
        epsilon = float(rng.choice([0.1, 1.0, 4.0]))
        channel = np.exp(
            epsilon * rng.integers(0, 2, (3, 4))
        )  # rows before they are scaled: within e^epsilon
        channel = 0.5 * channel / channel.max() / 4
        report = np.column_stack([channel, 1 - channel.sum(1)])
        if (report.max(0) / report.min(0)).max() > np.exp(epsilon) + 1e-9:
            continue
        kl, tv = float(stats.entropy(p, q)), float(np.abs(p - q).sum() / 2)
        learned = stats.entropy(p @ report, q @ report)
        for delta in (0.0, 1e-6):
            assert learned <= local_kl(pair(kl=kl, tv=tv), epsilon, delta)[0] + 1e-12


def explored(first: float, second: float, pulls: int, K: int) -> float:
    """What is lost by as many pulls of each of two arms, and then of the one that paid more, exactly."""
    wins = np.arange(pulls + 1)
    one, two = (stats.binom.pmf(wins, pulls, chance) for chance in (first, second))
    chosen = float(one @ (np.cumsum(two) - two / 2))  # ties by a coin
    rest = (K - 2 * pulls) * (
        chosen * (second - first) if second > first else (1 - chosen) * (first - second)
    )
    return pulls * abs(first - second) + rest


@pytest.mark.parametrize("K", [10, 1000, 10**6])
def test_no_number_of_pulls_beats_the_floor_of_two_arms(K: int) -> None:
    mdp = TabularMDP("arms", np.ones((1, 1, 2, 1)), np.array([[[0.6, 0.5]]]), np.ones(1), ("s",), ("a", "b"))
    found = neighbours(mdp)
    floors = regret_floor(found.pairs, K, "none")
    assert floors.max() > 0
    for place in np.argsort(-floors)[:: 1 if few(4) == 4 else 5]:
        floor, one = floors[place], found.found[place]
        arms = one.of(mdp).R[0, 0]
        for pulls in {0, 1, 3, 10, 30, 100, 300, 1000} & set(range(K // 2 + 1)):
            lost = explored(0.6, 0.5, pulls, K), explored(arms[0], arms[1], pulls, K)
            assert floor <= max(lost) * (1 + 1e-9)


def test_a_floor_grows_with_users_and_with_privacy() -> None:
    found = neighbours(problem_model(TINY))
    for model, delta in (("none", 0.0), ("central", 1e-6), ("local", 0.0)):
        before = 0.0
        for K in (1.0, 1e6, 1e12):
            now = found.floor(K, model, 1.0, delta).regret
            assert before <= now <= K * found.v_star
            assert now >= found.floor(K, "none").regret
            assert found.floor(K, model, 0.01, delta).regret >= now
            before = now
    arms = pair(apart=0.2, gap=0.1, kl=0.02, tv=0.1)
    users, place = users_floor(arms, 0.01, np.array([1.0]), "local", 0.1, 0.0)
    assert place == 0
    assert 0.01 * users * 0.999 < regret_floor(arms, users, "local", 0.1)[0] < 0.01 * users * 1.001


def below(
    found: Neighbours, mdp: TabularMDP, model: str, learner: str, K: int, seeds: int, epsilon: float
) -> str:
    """Where the larger of a learner's two curves is below the floor, in words; "" where it is not."""
    delta = 0.0 if model == "none" else 1e-6
    noise: dict[str, Any] = (
        {} if model == "none" else {"epsilon": epsilon, "delta": delta, "calibration": "calibrated"}
    )
    floor = found.floor(float(K), model, epsilon, delta)
    lost = [
        run(
            RunSpec(environment=one, algorithm=learner, privacy=model, episodes=K, seeds=seeds, **noise)
        ).values
        for one in (mdp, floor.neighbour.of(mdp))
    ]
    larger = max(float(curve[:, -1].mean()) for curve in lost)
    return "" if larger >= floor.regret else f"{learner} {model} {K}: {larger} < {floor.regret}"


def test_no_curve_is_below_the_floor() -> None:
    mdp = problem_model(TINY)
    assert not below(neighbours(mdp), mdp, "none", "dp-ucbvi", 10**6, 2, 1.0)


@pytest.mark.thorough
@pytest.mark.parametrize("problem", ["clinic", "chain", "random-tiny", "random"])
@pytest.mark.parametrize("model", list(MODELS))
def test_no_algorithm_is_below_the_floor(problem: str, model: str) -> None:
    mdp = random_mdp(5, 4, 3, 4) if problem == "random" else problem_model(PROBLEMS[problem])
    found = neighbours(mdp)
    learners = {"none": ["ucbvi", "ubev"], "shuffle": ["dp-ucbvi"]}.get(model, ["pucb", "private-ucb-po"])
    sizes = (10**3, 10**6) if (model, problem) == ("shuffle", "random") else (10**3, 10**6, 10**9, 10**12)
    seeds = 5 if model == "local" else 20
    for learner, K in itertools.product(["dp-ucbvi", *learners], sizes):
        epsilons = (1.0,) if model == "none" else (0.1, 1.0)
        for epsilon in epsilons:
            with suppress(SpecError):  # not every learner is offered with every model
                assert not below(found, mdp, model, learner, K, seeds, epsilon)


def test_bounds_of_the_table_are_what_comes_out_today() -> None:
    from pages.landscape.state import bundled_landscape

    table = bundled_landscape()
    for bound in bounds(TINY, ("central", "local"), (10**9,)):
        assert table.lower["random-tiny", bound.privacy, bound.K] == bound
        assert isinstance(bound, LowerBound)
    assert {problem for problem, _, _ in table.lower} == {"clinic", "chain", "random-tiny"}
    # what the page says: a trusted curator's privacy raises none of these
    for (problem, model, K), bound in table.lower.items():
        if model in ("central", "shuffle"):
            assert bound.regret == table.lower[problem, "none", K].regret
