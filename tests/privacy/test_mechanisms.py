"""Noise of running sums: trees against their definition, sums of draws against draws, Toeplitz against C z.

The definition of a tree (Chan, Shi, Song 2011): a node is an interval [start, start + 2^j) of the stream with one
draw of its own, Laplace(1) or N(0, 1); the noise of a prefix is the sum of the nodes of its binary expansion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.polynomial import Polynomial
from scipy import stats
from scipy.linalg import toeplitz

from dprl import SpecError
from dprl.engine import compiled
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS, Mechanism
from dprl.privacy.mechanisms import SIGNATURE, Stream, blt, make_stream, optimal, stream_of_releases
from dprl.privacy.mechanisms.gaussian import MAX_RELEASES, coefficients, correlate, innovations
from dprl.privacy.mechanisms.laplace import add_laplace
from dprl.simulation import schedules
from dprl.testing import check_mechanism
from dprl.testing import mechanisms as testing
from tests.compare import LEVEL, critical, ks_samples, standard_errors
from tests.privacy.draws import generator, likelihood_ratio, proof, unit_noise
from tests.privacy.test_factorisations import first_columns, matrices
from tests.problems import first

Node = tuple[int, int]  # start and length of an interval of the stream


def nodes(prefix: int) -> list[Node]:
    """The intervals of the binary expansion of a prefix."""
    found, start = [], 0
    for j in reversed(range(prefix.bit_length())):
        if prefix >> j & 1:
            found.append((start, 2**j))
            start += 2**j
    return found


def tree_by_definition(mechanism: Mechanism, times: Sequence[int], cells: int, seed: int) -> Array:
    """Noise [releases, cells], every node drawn once and looked up ever after."""
    rng = np.random.default_rng(seed)
    drawn: dict[Node, Array] = {}
    for t in times:
        for node in nodes(t):
            if node not in drawn:
                drawn[node] = (
                    rng.laplace(size=cells) if mechanism is LAPLACE_TREE else rng.standard_normal(cells)
                )
    return np.array([np.sum([drawn[node] for node in nodes(t)], axis=0) for t in times])


def stream_of(mechanism: Mechanism, times: Sequence[int]) -> Stream:
    """The stream of these release times; for shuffled bits a batch's users add some fair bits or a few rare ones, and a
    tree has 90 in each node."""
    if mechanism is MECHANISMS["binomial-tree"]:
        return make_stream(np.array(times), np.array([[90, 0.5, 3]]))
    if mechanism is not BITS:
        return make_stream(np.array(times))
    users = np.diff(times, prepend=0)
    few = users < 50
    batches = np.column_stack(
        [np.where(few, 2 * users, users), np.where(few, 0.5, 20 / users.clip(50)), np.full(len(users), 3)]
    )
    return make_stream(np.array(times), batches.astype(float))


def noise_of(mechanism: Mechanism, times: Sequence[int], cells: int, seed: int) -> Array:
    """Noise [releases, cells] from the compiled kernel."""
    return unit_noise(mechanism, stream_of(mechanism, times), cells, seed)


LAPLACE_TREE, GAUSSIAN_TREE = MECHANISMS["laplace-tree"], MECHANISMS["gaussian-tree"]
NOISES = [key for key in MECHANISMS if MECHANISMS[key].answers is None]  # others: test_unary.py
CHECKED = sorted(NOISES, key=lambda key: not key.endswith("tree"))  # the quickest of each kind first
LAPLACE, GAUSSIAN = MECHANISMS["laplace"], MECHANISMS["gaussian"]
TOEPLITZ, BITS = MECHANISMS["gaussian-toeplitz"], MECHANISMS["binomial-sum"]
TREES, SUMS = (LAPLACE_TREE, GAUSSIAN_TREE), (LAPLACE, GAUSSIAN)
VARIANCE = {"laplace-tree": 2, "gaussian-tree": 1, "binomial-tree": 90 / 4}  # of a node
UNIT = list(range(1, 34))
JUMPS = [1, 2, 3, 7, 8, 12, 13, 24, 28, 31, 32, 33, 100, 127, 128, 1000, 1023, 1024, 123_456]
GEOMETRIC = [int(t) for t in schedules.times("geometric:0.3", 10**15)]
TIMES = [1, 2, 3, 7, 24, 127]  # 127 is 7 nodes of a tree, the most there are below 128
CELLS = 20_000


class Labelling:
    """A generator whose draws are x^0, x^1, ...: of a sum, which is a polynomial, squared coefficients say how many of
    each it holds.

    Attributes:
        release: the one that draws now.
        made: the release at which each draw was made.
    """

    def __init__(self) -> None:
        self.release, self.made, self._second = 0, list[int](), False

    def random(self) -> float:
        return 0.0  # every sign is plus

    def standard_normal(self, count: int = 1) -> Polynomial:
        """sqrt(k) N(0, 1) stands for the sum of k draws."""
        self.made.append(self.release)
        return Polynomial.basis(len(self.made) - 1) * math.sqrt(count)

    standard_exponential = standard_normal

    def standard_gamma(self, shape: int) -> Polynomial:
        self._second = not self._second  # they come in pairs, Gamma - Gamma
        return self.standard_normal(shape) if self._second else Polynomial([0.0])


def draws_in_releases(mechanism: Mechanism, times: Sequence[int]) -> Iterator[Any]:
    """Of each release, how many draws it holds of those made at each."""
    stream, rng = make_stream(np.array(times)), Labelling()
    kept = np.zeros((mechanism.rows(stream.items, stream.releases), 1), dtype=object)
    noise: Any = np.zeros(1, dtype=object)
    for rng.release in range(len(times)):
        mechanism.add_noise(rng.release, stream.leaves, stream.batches, kept, rng, noise)
        held = noise[0].coef ** 2
        yield np.bincount(rng.made[: len(held)], held)


times_of_release = st.integers(1, 200) | st.integers(1, 2**50)
increasing = st.lists(times_of_release, min_size=1, max_size=40, unique=True).map(sorted)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(increasing)
@example(UNIT)
@example(JUMPS)
@example(GEOMETRIC)
@example([10**15])
def test_a_node_keeps_its_draw_for_as_long_as_prefixes_use_it(times: list[int]) -> None:
    """Exactly, for any release times: each release holds the draws of its nodes, made when first needed."""
    first: dict[Node, int] = {}
    for i, t in enumerate(times):
        for node in nodes(t):
            first.setdefault(node, i)
    for mechanism in TREES:
        for t, found in zip(times, draws_in_releases(mechanism, times), strict=True):
            np.testing.assert_allclose(found, np.bincount([first[node] for node in nodes(t)]))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(increasing)
def test_each_item_carries_its_own_draw(times: list[int]) -> None:
    blocks = np.diff([0, *times])
    for mechanism in SUMS:
        for i, found in enumerate(draws_in_releases(mechanism, times)):
            np.testing.assert_allclose(found, blocks[: i + 1])


@pytest.mark.parametrize("times", [UNIT, JUMPS, GEOMETRIC[::4]], ids=["unit", "jumps", "geometric"])
@pytest.mark.parametrize("key", VARIANCE)
def test_tree_covariances_count_shared_nodes(key: str, times: list[int]) -> None:
    noise = noise_of(MECHANISMS[key], times, CELLS, seed=1)
    sets = [set(nodes(t)) for t in times]
    limit = critical(len(times) * (len(times) + 1) // 2)
    for i in range(len(times)):
        for j in range(i + 1):
            expected = VARIANCE[key] * len(sets[i] & sets[j])  # on the diagonal: popcount draws
            assert standard_errors(noise[i] * noise[j], expected) < limit, (times[i], times[j])


@pytest.mark.parametrize("times", [UNIT, JUMPS, GEOMETRIC[::4]], ids=["unit", "jumps", "geometric"])
@pytest.mark.parametrize("mechanism", TREES, ids=lambda m: m.key)
def test_tree_has_the_distribution_of_its_definition(mechanism: Mechanism, times: list[int]) -> None:
    """Marginals and increments, which two releases' shared nodes leave alone."""
    ours = noise_of(mechanism, times, CELLS, seed=2)
    theirs = tree_by_definition(mechanism, times, CELLS, seed=3)
    level = LEVEL / (2 * len(times))
    for i, t in enumerate(times):
        assert ks_samples(ours[i], theirs[i]) > level, t
        if i:
            assert ks_samples(ours[i] - ours[i - 1], theirs[i] - theirs[i - 1]) > level, t


@pytest.mark.parametrize("key", NOISES)
def test_cells_are_independent(key: str) -> None:
    lags = (1, 2, 52, 53, 54, 512)
    for row in noise_of(MECHANISMS[key], JUMPS, CELLS, seed=4):
        for lag in lags:
            assert standard_errors(row[lag:] * row[:-lag], 0.0) < critical(len(JUMPS) * len(lags)), lag


def laplace(count: int, cells: int, seed: int) -> Array:
    noise = np.full(cells, 3.0)  # what is there already is added to
    add_laplace(generator(seed), count, noise)
    return noise - 3.0


@pytest.mark.parametrize("count", [1, 2, 3, 10, 100])
def test_the_sum_drawn_at_once_is_the_sum_of_draws(count: int) -> None:
    ones = np.random.default_rng(count).laplace(size=(count, CELLS)).sum(0)
    assert ks_samples(laplace(count, CELLS, seed=count), ones) > LEVEL


@pytest.mark.parametrize("count", [10**6, 10**12, 10**15])
def test_the_sum_of_very_many_draws_is_normal(count: int) -> None:
    """Kurtosis 3 + 3/count: within the resolution of the sample. Half a unit is the float spacing at 10^15."""
    draws = laplace(count, CELLS, seed=6) / np.sqrt(2.0 * count)
    assert stats.kstest(draws, "norm").pvalue > LEVEL


@pytest.mark.parametrize("key", NOISES)
def test_stated_std_is_that_of_the_draws(key: str) -> None:
    """At every release; of a tree, whose std depends on the prefix, at the worst one there could be."""
    mechanism = MECHANISMS[key]
    noise, std = noise_of(mechanism, JUMPS, CELLS, seed=9), mechanism.std(stream_of(mechanism, JUMPS))
    assert std.shape == (len(JUMPS),)
    variances = std**2
    if key in VARIANCE:
        most = max(t.bit_count() for t in range(1, JUMPS[-1] + 1))
        np.testing.assert_allclose(variances, VARIANCE[key] * most, rtol=1e-12)
        variances = np.array([VARIANCE[key] * t.bit_count() for t in JUMPS])
    for row, variance in zip(noise, variances, strict=True):
        assert standard_errors(row, 0.0) < critical(2 * len(JUMPS))
        assert standard_errors(row**2, float(variance)) < critical(2 * len(JUMPS))


# the Toeplitz factorisation


def factor(releases: int) -> Array:
    """C: lower triangular, Toeplitz."""
    return np.tril(toeplitz(coefficients(releases)))


@pytest.mark.parametrize("releases", [1, 2, 3, 50, 500])
def test_the_factor_squared_sums_prefixes(releases: int) -> None:
    C = factor(releases)
    np.testing.assert_allclose(C @ C, np.tril(np.ones((releases, releases))), rtol=0, atol=1e-12)
    norm = TOEPLITZ.std(make_stream(np.arange(1, releases + 1)))
    np.testing.assert_allclose(norm, np.linalg.norm(C, axis=1), rtol=1e-12)
    assert norm[-1] == pytest.approx(np.linalg.norm(C[:, 0]))  # what one item of the stream is seen through
    c = coefficients(MAX_RELEASES)
    np.testing.assert_allclose(np.convolve(c, c)[:MAX_RELEASES], 1.0, rtol=1e-11)


@pytest.mark.parametrize(("releases", "cells"), [(1, 1), (2, 3), (7, 513), (200, 30), (1000, 2)])
def test_correlated_noise_is_c_z(releases: int, cells: int) -> None:
    """From the same draws, without the Fourier transform. Cells come 512 at a time."""
    stream, found = make_stream(np.arange(1, releases + 1)), np.full((releases, cells), np.nan)
    correlate(generator(3), stream, found)
    rng = generator(3)
    z = np.hstack([rng.standard_normal((releases, min(512, cells - at))) for at in range(0, cells, 512)])
    np.testing.assert_allclose(found, factor(releases) @ z, rtol=0, atol=1e-11)


@pytest.mark.parametrize("key", ["gaussian-toeplitz", "gaussian-optimal"])
def test_too_many_releases_are_refused(key: str) -> None:
    assert MECHANISMS[key].rows(10**15, MAX_RELEASES) == MAX_RELEASES
    with pytest.raises(SpecError, match=f"{key} stores the noise of every release.*gaussian-blt") as error:
        MECHANISMS[key].rows(10**15, MAX_RELEASES + 1)
    assert error.value.field == "schedule"


# Of each factorisation: its factor B, and the map by which an attacker takes the releases apart.
FACTORS: dict[str, tuple[Callable[[int], Array], Callable[[Stream, Array], Array]]] = {
    "gaussian-toeplitz": (factor, innovations),
    "gaussian-blt": (lambda releases: first_columns(releases)[0], blt.innovations),
    "gaussian-optimal": (lambda releases: matrices(releases)[0], optimal.innovations),
}


@pytest.mark.parametrize("releases", [1, 2, 30, 100])
@pytest.mark.parametrize("key", FACTORS)
def test_a_release_is_a_row_of_b_times_the_draws_which_come_back(key: str, releases: int) -> None:
    """So its covariance is B B^T. As exactly as doubles allow, from the kernel's own draws."""
    made, undo = FACTORS[key]
    B, stream = made(releases), stream_of_releases(releases)
    z = generator(3).standard_normal((releases, 5))
    found = unit_noise(MECHANISMS[key], stream, 5, seed=3)
    np.testing.assert_allclose(found, B @ z, rtol=0, atol=1e-12)
    np.testing.assert_allclose(undo(stream, B @ z), z, rtol=0, atol=1e-11)


# shuffled bits


def test_forgotten_batches_do_not_add_up() -> None:
    batches = np.array([[100.0, 0.5, 3.0], [400.0, 0.5, 3.0], [100.0, 0.5, 3.0]])
    ends = np.array([10, 20, 30])
    np.testing.assert_allclose(BITS.std(make_stream(ends, batches)), np.sqrt([25, 125, 150]))
    np.testing.assert_allclose(BITS.std(make_stream(ends, batches, forgotten=True)), np.sqrt([25, 100, 25]))
    once, summed = (BITS.tail(make_stream(ends, batches, forgotten=f), 1e-6) for f in (True, False))
    assert once[0] == once[2] < once[1] < summed[1]
    assert once[0] == pytest.approx(summed[0], rel=1e-3)  # theta is looked for on another grid


@pytest.mark.parametrize("key", NOISES)
@pytest.mark.parametrize("failure", [1e-2, 1e-4])
def test_the_tail_bound_holds_and_is_not_loose(key: str, failure: float) -> None:
    """At each release, from 200,000 draws: the bound is broken no more often than it says, 60% of it more often; and so
    is that of the length of four counters."""
    mechanism, draws = MECHANISMS[key], 200_000
    stream = stream_of(mechanism, TIMES)
    noise = np.abs(unit_noise(mechanism, stream, draws, seed=13))
    bound = mechanism.tail(stream, failure)[:, None]
    most = stats.binom.isf(LEVEL / len(TIMES), draws, failure)
    assert ((noise > bound).sum(1) <= most).all()
    assert (noise > 0.6 * bound).sum(1).max() > most
    lengths = np.linalg.norm(noise.reshape(len(TIMES), -1, 4), axis=-1)
    beyond = (lengths > mechanism.length(stream, 4, failure)[:, None]).sum(1)
    assert (beyond <= stats.binom.isf(LEVEL / len(TIMES), lengths.shape[1], failure)).all()


@pytest.mark.parametrize("key", first(CHECKED, lambda key: (MECHANISMS[key].fresh, MECHANISMS[key].norm)))
def test_noise_is_symmetric_and_an_attack_shows_no_more_than_is_proved(key: str) -> None:
    """As often above a bound as below its negative, which schedules that decide as they go rest on. Attacks where noise
    needs no batches, in up to 511 releases."""
    mechanism, bounds = MECHANISMS[key], np.array((0.25, 1.0, 2.0))
    stream = stream_of(mechanism, TIMES)
    plain = testing.noise_of(mechanism, stream, 30, 5)
    assert plain.tobytes() == unit_noise(mechanism, stream, 30, seed=5).tobytes()
    noise = unit_noise(mechanism, stream, CELLS, seed=17)
    for row, std in zip(noise, mechanism.std(stream), strict=True):
        above, below = ((side[:, None] > bounds * std).sum(0) for side in (row, -row))
        chance = 2 * stats.binom.cdf(np.minimum(above, below), above + below, 0.5)
        assert chance.min() > LEVEL / (len(bounds) * len(TIMES))
    if not key.startswith("binomial"):
        quick = replace(mechanism, add_noise=compiled(mechanism.add_noise, SIGNATURE))
        assert check_mechanism(quick) == ("record", "repeats", "noise", "proof")
        likelihood_ratio(mechanism)
        proof(mechanism)
