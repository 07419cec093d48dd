"""Data sets as counts: exact in distribution at any size, and what a behaviour policy covers."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from scipy import stats

from dprl import ENVIRONMENTS, SpecError
from dprl.mdp import Size, TabularMDP, planning
from dprl.mdp.counts import rewards, transitions, visits
from dprl.mdp.sampling import multinomial
from dprl.mdp.tabular import Array
from dprl.simulation import datasets
from dprl.simulation.datasets import BEHAVIOURS, Part
from tests.compare import FIVE, LEVEL
from tests.problems import random_mdp


def test_a_multinomial_is_one() -> None:
    """All outcomes of 4 in 3 cells, with their frequencies."""
    p, times = np.array([0.2, 0.7, 0.1]), 20_000
    drawn = multinomial(np.random.default_rng(0), np.full(times, 4), np.tile(p, (times, 1)))
    outcomes = [x for x in itertools.product(range(5), repeat=3) if sum(x) == 4]
    seen = [int((drawn == x).all(-1).sum()) for x in outcomes]
    expected = [times * stats.multinomial.pmf(x, 4, p) for x in outcomes]
    assert sum(seen) == times
    assert stats.chisquare(seen, expected).pvalue > LEVEL


@pytest.mark.parametrize("cells", [1, 2, 3, 5, 8])
def test_a_multinomial_is_exact_where_cells_are_rare_or_empty(cells: int) -> None:
    rng, n = np.random.default_rng(1), 10**15
    p = np.zeros(cells)
    p[0] = 1.0
    np.testing.assert_array_equal(multinomial(rng, np.array(n), p), n * p)
    p[-1] += 1e-14  # 1 - p has lost its digits: NumPy's own binomial has mean 9.9 here
    if cells > 1:
        rare = multinomial(rng, np.full(20_000, n), np.tile(p, (20_000, 1)))[:, -1]
        assert abs(rare.mean() - 10) < FIVE * math.sqrt(10 / 20_000)


def joint(mdp: TabularMDP, behaviour: tuple[Part, ...]) -> tuple[Array, Array]:
    """Every trajectory there is, as counts m, and its chance."""
    found, chances = [], []
    steps = itertools.product(range(mdp.A), range(mdp.S))
    for start, path in itertools.product(range(mdp.S), itertools.product(list(steps), repeat=mdp.H)):
        for part in behaviour:
            m, s, chance = np.zeros(mdp.P.shape), start, part.share * mdp.d1[start]
            for h, (a, x) in enumerate(path):
                m[h, s, a, x] = 1
                chance *= part.policy[h, s, a] * mdp.P[h, s, a, x]
                s = x
            found.append(m.ravel())
            chances.append(chance)
    return np.array(found), np.array(chances)


@pytest.mark.thorough
@pytest.mark.parametrize("behaviour", ["uniform", "mixture:0.7", "epsilon-optimal:0.2", "first:0.6"])
def test_counts_have_the_mean_and_covariance_of_independent_trajectories(behaviour: str) -> None:
    """Of a sum of n draws from all trajectories there are, listed one by one."""
    mdp, n, times = random_mdp(3, 2, 2, 2), 30, 4000
    parts = datasets.parts(behaviour, mdp)
    paths, chances = joint(mdp, parts)
    assert chances.sum() == pytest.approx(1)
    mean = chances @ paths
    covariance = paths.T @ (paths * chances[:, None]) - np.outer(mean, mean)
    rng = np.random.default_rng(0)
    drawn = np.array([transitions(datasets.sample(rng, mdp, parts, n)).ravel() for _ in range(times)])
    errors = (drawn.mean(0) - n * mean) / np.sqrt(n * np.diag(covariance) / times)
    assert np.abs(errors).max() < FIVE
    products = (drawn - n * mean)[:, :, None] * (drawn - n * mean)[:, None, :]
    errors = (products.mean(0) - n * covariance) / (products.std(0) / math.sqrt(times))
    assert np.abs(errors).max() < FIVE + 0.5  # 256 of them


def test_every_trajectory_goes_on_where_it_has_come_to() -> None:
    mdp, n = ENVIRONMENTS["clinic"].make(), 10**12
    record = datasets.sample(np.random.default_rng(0), mdp, datasets.parts("mixture:0.7", mdp), n)
    m = transitions(record)
    np.testing.assert_array_equal(visits(record), m.sum(-1))
    assert (m.sum((1, 2, 3)) == n).all()
    np.testing.assert_array_equal(m[1:].sum((2, 3)), m[:-1].sum((1, 2)))
    assert not m[mdp.P == 0].any()
    again = datasets.sample(np.random.default_rng(0), mdp, datasets.parts("mixture:0.7", mdp), n)
    np.testing.assert_array_equal(record, again)


POLICY = "policy:0.7:0120X4.2211"  # of 4 states, 3 actions and 5 steps


@pytest.mark.parametrize("behaviour", [*sorted(BEHAVIOURS.keys() - {"policy"}), POLICY])
def test_the_share_of_a_large_data_set_is_the_occupancy(behaviour: str) -> None:
    mdp, n = random_mdp(1, 4, 3, 5), 10**12
    parts = datasets.parts(datasets.check_behaviour(behaviour, mdp.size), mdp)
    occupancy = datasets.occupancy(mdp, parts)
    record = datasets.sample(np.random.default_rng(2), mdp, parts, n)
    errors = (visits(record) - n * occupancy) / np.sqrt(n * np.maximum(occupancy * (1 - occupancy), 1e-30))
    assert np.abs(errors).max() < FIVE
    mean = visits(record) * mdp.R
    errors = (rewards(record) - mean) / np.sqrt(np.maximum(mean * (1 - mdp.R), 1e-30))
    assert np.abs(errors).max() < FIVE  # Bernoulli rewards
    certain = datasets.sample(np.random.default_rng(2), random_mdp(1, 4, 3, 5, bernoulli=False), parts, n)
    np.testing.assert_array_equal(rewards(certain), visits(certain) * mdp.R)
    np.testing.assert_array_equal(visits(certain), visits(record))


def test_what_the_behaviours_cover_on_riverswim() -> None:
    """By hand: five steps to the right with chances .6 and .35, an action of two each time, and one more action."""
    mdp = ENVIRONMENTS["riverswim"].make()
    d_m, optimal = datasets.coverage(mdp, datasets.parts("uniform", mdp))
    assert d_m == optimal == pytest.approx(0.6 * 0.35**4 * 0.5**6)
    d_m, optimal = datasets.coverage(mdp, datasets.parts("mixture:0.7", mdp))
    assert d_m == pytest.approx(0.3 * 0.6 * 0.35**4 * 0.5**6)
    assert optimal == pytest.approx(0.7 * 0.6 * 0.35**4 + 0.3 * 0.6 * 0.35**4 * 0.5**6)
    best = datasets.parts("epsilon-optimal:0", mdp)
    visited = planning.occupancy(mdp, planning.optimum(mdp).policy)
    np.testing.assert_allclose(datasets.occupancy(mdp, best).sum(-1), visited)
    left = datasets.parts("first:1", mdp)
    assert datasets.coverage(mdp, left)[1] == 0  # the end is not covered


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("uniform", "uniform"),
        ("mixture", "mixture:0.7"),
        ("mixture:0.50", "mixture:0.5"),
        ("epsilon-optimal:1", "epsilon-optimal:1"),
        ("first", "first:0.6"),
        ("policy:0120X4.2211", POLICY),
        ("policy:0.70:0120.0120X2.0120X1.2211", POLICY),
        ("policy:1:0000X5", "policy:1:0000X5"),
    ],
)
def test_a_behaviour_has_one_form(given: str, canonical: str) -> None:
    size = Size(4, 3, 5)
    assert datasets.check_behaviour(given, size) == datasets.check_behaviour(canonical, size) == canonical


def test_a_policy_that_is_followed_is_the_one_that_was_written() -> None:
    mdp = random_mdp(1, 4, 90, 5)
    policy = np.random.default_rng(0).integers(0, 90, (5, 4))
    policy[3] = policy[2]
    text = datasets.following(policy, 0.25)
    assert datasets.check_behaviour(text, mdp.size) == text
    followed, others = datasets.parts(text, mdp)
    assert (followed.share, others.share) == (0.25, 0.75)
    np.testing.assert_array_equal(followed.policy.argmax(-1), policy)
    np.testing.assert_array_equal(others.policy, datasets.uniform_policy(mdp))


NO_SHARE = "is not allowed; give mixture:SHARE with a number from 0 to 1 or"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        *(
            (text, NO_SHARE)
            for text in ("", "optimal", "uniform:0.5", "mixture:2", "mixture:x", "first:-0.1")
        ),
        *((text, NO_SHARE) for text in ("first:nan", "policy:2:0120X5")),
        ("policy", "nothing is not a row of actions"),
        ("policy:0.7:0120X4.221", "at step 4 the policy has 3 actions, but there are 4 states"),
        ("policy:0120X4", "the policy has 4 steps, but the horizon is 5"),
        ("policy:0120X999999", "more steps than the horizon"),
        ("policy:0130X5", "at step 0 in state 2 the policy takes action 3; give one from 0 to 2"),
        ("policy:0:0_zz10X5", "takes action 1295"),
        ("policy:01!0X5", "01!0X5 is not a row of actions"),
    ],
)
def test_other_behaviours_and_policies_are_refused_in_a_sentence(given: str, said: str) -> None:
    with pytest.raises(SpecError, match=re.escape(said)) as error:
        datasets.check_behaviour(given, Size(4, 3, 5))
    assert error.value.field == "behaviour"
    assert str(error.value).endswith(".")
