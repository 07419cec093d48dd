"""Shuffled bits: batches against users' bits one by one, B25 Algorithm 4's rule, and tails."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS, PRIVATIZERS
from dprl.privacy.accounting import epsilon_of
from dprl.privacy.errors import binomial_tail
from dprl.privacy.losses import Binomial
from dprl.privacy.mechanisms import make_stream
from dprl.privacy.privatizers.shuffle import calibrated_bits, paper_bits
from tests.compare import FIVE, LEVEL, chi_square, ks_samples, standard_errors
from tests.privacy.draws import prepared, request, unit_noise

CELLS = 40_000
BITS = MECHANISMS["binomial-sum"]


def noise_of(batches: Sequence[tuple[float, float]], seed: int, cells: int = CELLS) -> Array:
    ends = np.cumsum([n for n, _ in batches]).astype(np.int64)
    return unit_noise(BITS, make_stream(ends, np.array(batches, dtype=float)), cells, seed)


KNOBS = [(40, 0.5), (1000, 0.5), (10**6, 3e-4), (10**12, 4e-9), (10**15, 1e-13), (3000, 0.1)]


def test_moments_and_distribution_of_batches() -> None:
    """The batches' noises add up, each Binomial less its mean."""
    noise = noise_of(KNOBS, seed=1)
    before: Array | float = 0.0
    variance = 0.0
    for row, (trials, p) in zip(noise, KNOBS, strict=True):
        step = row - before
        assert standard_errors(step, 0.0) < FIVE
        assert standard_errors(step**2, trials * p * (1 - p)) < FIVE
        assert standard_errors(step * before, 0.0) < FIVE if np.any(before) else True
        variance += trials * p * (1 - p)
        assert standard_errors(row**2, variance) < FIVE
        outcome = np.rint(step + trials * p).astype(np.int64)
        np.testing.assert_allclose(outcome, step + trials * p, atol=1e-3 if trials < 10**15 else 0.2)
        seen, times = np.unique(outcome, return_counts=True)
        chance = stats.binom.pmf(seen, trials, p) if trials < 10**10 else stats.poisson.pmf(seen, trials * p)
        expected = np.append(chance, 1 - chance.sum()) * CELLS
        assert chi_square(np.append(times, 0), expected) > LEVEL / len(KNOBS)
        before = row


@pytest.mark.parametrize(("users", "tau"), [(1, 50.0), (7, 50.0), (49, 50.0), (50, 50.0), (400, 50.0)])
def test_a_batch_is_its_users_one_by_one(users: int, tau: float) -> None:
    """B25 Algorithm 4 as written: n < tau: ceil(tau/n) fair bits a user; else one Bernoulli(tau/2n) bit a user."""
    rng, cells = np.random.default_rng(2), 4000
    per_user, p = (math.ceil(tau / users), 0.5) if users < tau else (1, tau / (2 * users))
    one_by_one = (rng.random((cells, users, per_user)) < p).sum((1, 2)) - users * per_user * p
    ((trials, probability),) = paper_bits(np.array([users]), tau)
    together = noise_of([(trials, probability)], seed=3, cells=cells)[0]
    assert ks_samples(one_by_one, together) > LEVEL / 5
    variance = float(trials * probability * (1 - probability))
    assert standard_errors(one_by_one**2, variance) < FIVE
    assert standard_errors(together**2, variance) < FIVE


def test_calibrated_rule() -> None:
    """`fair` fair bits at least, or rare ones of the stated variance; never a probability above one half."""
    users = np.unique(np.geomspace(1, 1e15, 300).astype(np.int64))
    trials, p = calibrated_bits(users, 400, 103.0).T
    fair = p == 0.5
    assert (trials[fair] >= 400).all()
    assert (trials[fair] < 400 + users[fair]).all()
    np.testing.assert_allclose((trials * p * (1 - p))[~fair], 103.0, rtol=1e-9)
    assert (trials == users)[~fair].all()
    assert (p <= 0.5).all()
    assert (users[fair] < 412).all()
    assert (users[~fair] >= 412).all()


@pytest.mark.parametrize("failure", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("knob", [(400.0, 0.5), (1e6, 2e-4), (5e4, 0.02)])
def test_tail_of_one_batch(knob: tuple[float, float], failure: float) -> None:
    """Holds against the exact tail, and is not loose."""
    trials, p = knob
    bound = float(binomial_tail(np.array([knob]), failure)[0])
    mean, ends = trials * p, np.array([bound, bound / 1.3])
    exact = stats.binom.sf(mean + ends, trials, p) + stats.binom.cdf(mean - ends, trials, p)
    assert exact[0] <= failure < exact[1]


def test_tail_of_many_batches() -> None:
    """For equal batches of fair bits the sum is Binomial, too; for rare ones nearly Poisson."""
    sums = np.arange(1, 51)
    bound = binomial_tail(np.array([(400.0, 0.5)] * 50), 1e-6)
    assert (2 * stats.binom.sf(200 * sums + bound, 400 * sums, 0.5) <= 1e-6).all()
    assert (2 * stats.binom.sf(200 * sums + bound / 1.25, 400 * sums, 0.5) > 1e-6).all()
    bound = binomial_tail(np.array([(1e12, 1e-10)] * 50), 1e-6)
    law = stats.poisson(100 * sums)
    assert (law.sf(100 * sums + bound) + law.cdf(100 * sums - bound) <= 1e-6).all()
    assert (law.sf(100 * sums + bound / 1.25) > 1e-7).all()


# --- in the nodes of a tree over the batches ---


def test_batches_share_the_bits_of_a_node_evenly_and_all_of_them_prove_the_budget() -> None:
    noise = prepared("shuffle", "binomial-tree", "calibrated", np.arange(1, 334) * 10**6, H=20, S=2, A=2)
    ((bits, probability, raised),) = noise.stream.batches
    assert (probability, raised) == (0.5, 60)
    assert bits % 2**8 == 0  # level 8 has 256 batches
    losses = [(Binomial(int(n), 0.5, 9 * 60, 9 * 60),) for n in (bits, bits - 2**8)]
    assert epsilon_of(losses[0], 1e-6) <= 1.0 < epsilon_of(losses[1], 1e-6)
    card = noise.guarantee()
    assert card.proved_epsilon == epsilon_of(losses[0], 1e-6)
    each = math.ceil(bits * (2 - 2**-8) / 10**6) + 9
    assert f"{each} bits for each of 320 counters, with 9 copies of the true bit" in card.messages
    alone = prepared("shuffle", "binomial-sum", "calibrated", np.arange(1, 334) * 10**6, H=20, S=2, A=2)
    assert 2.1 < alone.std[-1] / noise.std[-1] < 2.2


def test_a_tree_is_over_releases_that_are_decided_as_the_run_goes_too() -> None:
    fixed = prepared("shuffle", "binomial-tree", "calibrated", [10, 20, 30, 10**6], H=2, S=2, A=2)
    asked = request("shuffle", "binomial-tree", "calibrated", [10**3, 10**6], H=2, S=2, A=2)
    open_ = PRIVATIZERS["shuffle"].prepare(replace(asked, releases=4))
    np.testing.assert_array_equal(fixed.stream.batches, open_.stream.batches)
    np.testing.assert_array_equal(fixed.stream.leaves, open_.stream.leaves)
    assert fixed.std[-1] == open_.std[-1]
