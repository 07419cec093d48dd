"""Noise of running sums: the tree against its definition, sums of draws against draws.

The definition (Chan, Shi, Song 2011): a node is an interval [start, start + 2^j) of the stream with one draw of
Laplace(1) of its own; the noise of a prefix is the sum of the nodes of its binary expansion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from dprl.kernels import compiled
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS, Mechanism
from dprl.privacy.mechanisms import SIGNATURE, add_laplace, levels, make_leaves, memory
from dprl.simulation import schedule
from tests.compare import LEVEL, critical, ks_samples, standard_errors

Node = tuple[int, int]  # start and length of an interval of the stream


def nodes(prefix: int) -> list[Node]:
    """The intervals of the binary expansion of a prefix."""
    found, start = [], 0
    for j in reversed(range(prefix.bit_length())):
        if prefix >> j & 1:
            found.append((start, 2**j))
            start += 2**j
    return found


def tree_by_definition(times: Sequence[int], cells: int, rng: np.random.Generator) -> Array:
    """Noise [releases, cells], every node drawn once and looked up ever after."""
    drawn: dict[Node, Array] = {}
    for t in times:
        for node in nodes(t):
            if node not in drawn:
                drawn[node] = rng.laplace(size=cells)
    return np.array([np.sum([drawn[node] for node in nodes(t)], axis=0) for t in times])


def noise_of(mechanism: Mechanism, times: Sequence[int], cells: int, seed: int) -> Array:
    """Noise [releases, cells] from the compiled kernel."""
    leaves = make_leaves(np.array(times))
    add_noise = compiled(mechanism.add_noise, SIGNATURE)
    kept, rng, noise = (
        memory(mechanism, leaves, cells),
        np.random.Generator(np.random.SFC64(seed)),
        np.zeros(cells),
    )
    result = []
    for i in range(len(times)):
        add_noise(i, leaves, kept, rng, noise)
        result.append(noise.copy())
    return np.array(result)


TREE, SUM = MECHANISMS["laplace-tree"], MECHANISMS["laplace"]
UNIT = list(range(1, 34))
JUMPS = [1, 2, 3, 7, 8, 12, 13, 24, 28, 31, 32, 33, 100, 127, 128, 1000, 1023, 1024, 123_456]
GEOMETRIC = [int(t) for t in schedule.times("geometric:0.3", 10**15)]
CELLS = 20_000


class Drawn:
    """Stands for noise: how many Laplace draws it holds of those made at each release."""

    def __init__(self, draws: Counter[int]) -> None:
        self.draws = draws

    def __add__(self, other: Drawn | float) -> Drawn:
        if isinstance(other, Drawn):
            return Drawn(self.draws + other.draws)
        assert other == 0.0
        return self

    __radd__ = __add__

    def __sub__(self, other: Drawn) -> Drawn:
        return self + other


class Labelling:
    """A generator whose draws carry the release at which they were made."""

    def __init__(self) -> None:
        self.release = 0
        self._second = False

    def random(self) -> float:
        return 0.0  # every sign is plus

    def standard_exponential(self) -> Drawn:
        return Drawn(Counter({self.release: 1}))

    def standard_gamma(self, shape: int) -> Drawn:
        self._second = not self._second  # they come in pairs, Gamma - Gamma
        return Drawn(Counter({self.release: int(shape)} if self._second else {}))


def draws_in_releases(mechanism: Mechanism, times: Sequence[int]) -> list[Counter[int]]:
    leaves, rng = make_leaves(np.array(times)), Labelling()
    kept = np.zeros((mechanism.rows(leaves), 1), dtype=object)
    noise: Any = np.zeros(1, dtype=object)
    result = []
    for i in range(len(times)):
        rng.release = i
        mechanism.add_noise(i, leaves, kept, rng, noise)
        result.append(Counter(noise[0].draws))
    return result


increasing = st.lists(st.integers(1, 200) | st.integers(1, 2**50), min_size=1, max_size=40, unique=True).map(
    sorted
)


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
    expected = [Counter(first[node] for node in nodes(t)) for t in times]
    assert draws_in_releases(TREE, times) == expected


@settings(max_examples=100, deadline=None, derandomize=True)
@given(increasing)
def test_each_item_carries_its_own_draw(times: list[int]) -> None:
    blocks = np.diff([0, *times])
    expected = [Counter({j: int(b) for j, b in enumerate(blocks[: i + 1])}) for i in range(len(times))]
    assert draws_in_releases(SUM, times) == expected


@pytest.mark.parametrize("times", [UNIT, JUMPS, GEOMETRIC[::4]], ids=["unit", "jumps", "geometric"])
def test_tree_covariances_count_shared_nodes(times: list[int]) -> None:
    noise = noise_of(TREE, times, CELLS, seed=1)
    sets = [set(nodes(t)) for t in times]
    limit = critical(len(times) * (len(times) + 1) // 2)
    for i in range(len(times)):
        for j in range(i + 1):
            # Laplace(1) has variance 2; on the diagonal this is 2 * popcount
            assert standard_errors(noise[i] * noise[j], 2 * len(sets[i] & sets[j])) < limit, (
                times[i],
                times[j],
            )


@pytest.mark.parametrize("times", [UNIT, JUMPS, GEOMETRIC[::4]], ids=["unit", "jumps", "geometric"])
def test_tree_has_the_distribution_of_its_definition(times: list[int]) -> None:
    """Marginals and increments, which two releases' shared nodes leave alone."""
    ours, theirs = (
        noise_of(TREE, times, CELLS, seed=2),
        tree_by_definition(times, CELLS, np.random.default_rng(3)),
    )
    level = LEVEL / (2 * len(times))
    for i, t in enumerate(times):
        assert ks_samples(ours[i], theirs[i]) > level, t
        if i:
            assert ks_samples(ours[i] - ours[i - 1], theirs[i] - theirs[i - 1]) > level, t


def test_tree_cells_are_independent() -> None:
    noise = noise_of(TREE, JUMPS, CELLS, seed=4)
    for row in noise:
        for lag in (1, 2, 52, 53, 54):
            assert standard_errors(row[lag:] * row[:-lag], 0.0) < critical(len(JUMPS) * 5)


def laplace(count: int, cells: int, seed: int) -> Array:
    source, target = np.zeros(cells), np.zeros(cells)
    add_laplace(np.random.Generator(np.random.SFC64(seed)), count, source, target)
    assert not source.any()
    return target


def test_one_draw_is_laplace() -> None:
    draws = laplace(1, 100_000, seed=5)
    assert stats.kstest(draws, "laplace").pvalue > LEVEL / 2
    assert stats.binomtest(int((draws > 0).sum()), draws.size).pvalue > LEVEL / 2


@pytest.mark.parametrize("count", [2, 3, 10, 100])
def test_the_sum_drawn_at_once_is_the_sum_of_draws(count: int) -> None:
    ones = np.random.default_rng(count).laplace(size=(count, CELLS)).sum(0)
    assert ks_samples(laplace(count, CELLS, seed=count), ones) > LEVEL


@pytest.mark.parametrize("count", [10**6, 10**12, 10**15])
def test_the_sum_of_very_many_draws_is_normal(count: int) -> None:
    """Kurtosis 3 + 3/count: within the resolution of the sample. Half a unit is the float spacing at 10^15."""
    draws = laplace(count, CELLS, seed=6) / np.sqrt(2.0 * count)
    assert stats.kstest(draws, "norm").pvalue > LEVEL


def test_local_noise_of_a_block_is_that_of_its_users_one_by_one() -> None:
    blocks, ones = [1, 3, 20, 84, 100], list(range(1, 101))
    one_by_one = noise_of(SUM, ones, CELLS, seed=7)[[b - 1 for b in blocks]]
    together = noise_of(SUM, blocks, CELLS, seed=8)
    level = LEVEL / (2 * len(blocks))
    for i in range(len(blocks)):
        assert ks_samples(one_by_one[i], together[i]) > level
        if i:
            assert ks_samples(np.diff(one_by_one, axis=0)[i - 1], np.diff(together, axis=0)[i - 1]) > level


@pytest.mark.parametrize("key", MECHANISMS)
def test_stated_variance_and_terms_are_those_of_the_draws(key: str) -> None:
    mechanism = MECHANISMS[key]
    noise, terms = noise_of(mechanism, JUMPS, CELLS, seed=9), mechanism.terms(make_leaves(np.array(JUMPS)))
    assert terms.shape == (len(JUMPS),)
    for row, count in zip(noise, terms, strict=True):
        assert standard_errors(row, 0.0) < critical(2 * len(JUMPS))
        assert standard_errors(row**2, mechanism.variance * float(count)) < critical(2 * len(JUMPS))


@pytest.mark.parametrize(
    ("items", "expected"), [(1, 1), (2, 2), (3, 2), (4, 3), (1023, 10), (1024, 11), (10**15, 50)]
)
def test_levels(items: int, expected: int) -> None:
    """floor(log2 items) + 1."""
    assert levels(items) == expected
