"""Blocks drawn together have the distribution of users walked one by one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dprl import ENVIRONMENTS, TabularMDP
from dprl.engine import compiled, rng_type, type_of
from dprl.mdp import planning
from dprl.mdp.counts import empty, rewards, transitions, visits
from dprl.mdp.sampling import binomial
from dprl.mdp.tabular import Array
from dprl.simulation.blocks import Model, model_of, sample, walk
from tests.compare import LEVEL, chi_square, critical, ks_samples, standard_errors
from tests.privacy.draws import generator
from tests.problems import first, random_mdp

Ints = NDArray[np.int64]
Logits = Array  # [H, S, A], see mdp/planning.py
Draw = Callable[[np.random.Generator, int], tuple[Array, Ints]]


def drawing(mdp: TabularMDP, policy: Ints | Logits, how: str, *, plain: bool = False) -> Draw:
    """A function (rng, users) -> counts [H, S, A, S + 2] and starts [S], by `walk` or by `sample`."""
    model, S = model_of(mdp), mdp.S
    function: Callable[..., None] = walk if how == "walk" else sample
    here, *scratch = (np.zeros(S, dtype=np.int64) for _ in range(1 if how == "walk" else 3))
    if not plain:
        examples = (model, policy, 1, empty(1, 1, 1), here, *scratch)
        function = compiled(function, type_of(None)(rng_type(), *map(type_of, examples)))

    def draw(rng: np.random.Generator, users: int) -> tuple[Array, Ints]:
        counts, starts = empty(mdp.H, mdp.S, mdp.A), np.full(S, -1, dtype=np.int64)
        function(rng, model, policy, users, counts, starts, *scratch)
        return counts, starts

    return draw


def some_policy(mdp: TabularMDP, seed: int = 0) -> Ints:
    return np.random.default_rng(seed).integers(mdp.A, size=(mdp.H, mdp.S))


def some_chances(mdp: TabularMDP, seed: int = 0) -> Logits:
    """A stochastic policy: some rows take one action for certain, some never take one."""
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.ones(mdp.A), size=(mdp.H, mdp.S))
    chances[-1, 0] = np.eye(mdp.A)[0]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(chances))


POLICIES: dict[str, Callable[..., Any]] = {"actions": some_policy, "chances": some_chances}

PROBLEMS = {
    "riverswim": ENVIRONMENTS["riverswim"].make(S=4, H=5, variant="strehl-littman"),
    "random": random_mdp(1, 3, 2, 4),
    "sparse": random_mdp(2, 4, 2, 3, sparse=True),
    "fixed rewards": random_mdp(1, 3, 2, 4, bernoulli=False),
}


def chances_of(mdp: TabularMDP, policy: Ints | Logits) -> Array:
    """[H, S, A] how likely a policy takes each action."""
    return np.exp(policy) if policy.ndim == 3 else np.eye(mdp.A)[policy]


@pytest.mark.parametrize(
    ("how", "users"),
    first(
        [*product(["walk", "sample"], [1000, 5, 1]), ("sample", 10**15)],
        lambda given: (given[0], given[1] > 1000),
    ),
)
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("kind", first(sorted(POLICIES)))
def test_counts_are_conserved(name: str, how: str, users: int, kind: str) -> None:
    """And shares are those of the model: five standard deviations of a share, at most 0.5 / sqrt(users)."""
    mdp = PROBLEMS[name]
    policy = POLICIES[kind](mdp)
    counts, starts = drawing(mdp, policy, how)(generator(users), users)
    m, n, r = transitions(counts), visits(counts), rewards(counts)
    np.testing.assert_array_equal(m.sum(-1), n)
    np.testing.assert_array_equal(n.sum((1, 2)), users)
    np.testing.assert_array_equal(n[0].sum(-1), starts)
    np.testing.assert_array_equal(m.sum((1, 2))[:-1], n.sum(-1)[1:])  # who arrives is there at the next step
    assert not m[mdp.P == 0].any()
    assert (m >= 0).all()
    taken = chances_of(mdp, policy)
    assert not n[taken == 0].any()
    assert ((r >= 0) & (r <= n)).all()
    if mdp.bernoulli:
        np.testing.assert_array_equal(r, np.round(r))
        np.testing.assert_array_equal(r[mdp.R == 1], n[mdp.R == 1])
    else:
        np.testing.assert_allclose(r, n * mdp.R, rtol=1e-9)
    assert not r[mdp.R == 0].any()
    occupied = planning.occupancy(mdp, policy if policy.ndim == 2 else taken)
    np.testing.assert_allclose(n.sum(-1) / users, occupied, rtol=0, atol=2.5 / np.sqrt(users))


def exact_outcomes(mdp: TabularMDP, policy: Ints | Logits) -> dict[bytes, float]:
    """The chance of every record of counts that one user can leave."""
    chances: dict[bytes, float] = {}
    pi = chances_of(mdp, policy)
    paths = product(product(range(mdp.S), repeat=mdp.H + 1), product(range(mdp.A), repeat=mdp.H))
    for path, actions in paths:
        for paid in product((0, 1), repeat=mdp.H) if mdp.bernoulli else [None]:
            chance, counts = float(mdp.d1[path[0]]), empty(mdp.H, mdp.S, mdp.A)
            for h in range(mdp.H):
                s, x, a = path[h], path[h + 1], actions[h]
                chance *= pi[h, s, a] * mdp.P[h, s, a, x]
                counts[h, s, a, x] += 1
                counts[h, s, a, mdp.S] += 1
                mean = mdp.R[h, s, a]
                if paid is None:
                    counts[h, s, a, mdp.S + 1] += mean
                else:
                    chance *= mean if paid[h] else 1 - mean
                    counts[h, s, a, mdp.S + 1] += paid[h]
            if chance > 0:
                chances[counts.tobytes()] = chances.get(counts.tobytes(), 0.0) + chance
    assert sum(chances.values()) == pytest.approx(1.0)
    return chances


@pytest.mark.parametrize("bernoulli", [True, False])
@pytest.mark.parametrize("how", ["walk", "sample"])
@pytest.mark.parametrize("kind", first(sorted(POLICIES)))
def test_one_user_leaves_each_record_with_its_exact_chance(how: str, bernoulli: bool, kind: str) -> None:
    """Whole records, chi-square against the enumeration of all paths."""
    mdp = random_mdp(4, 2, 2, 3, bernoulli=bernoulli)
    policy = POLICIES[kind](mdp, seed=1)
    chances = exact_outcomes(mdp, policy)
    draw, rng, draws = drawing(mdp, policy, how), generator(5), 20_000
    seen = dict.fromkeys(chances, 0)
    for _ in range(draws):
        seen[draw(rng, 1)[0].tobytes()] += 1
    expected = np.array(list(chances.values())) * draws
    assert (expected >= 5).sum() > 8
    assert chi_square(list(seen.values()), expected, least=5) > LEVEL


@pytest.mark.parametrize("name", PROBLEMS)
def test_large_blocks_have_one_distribution(name: str) -> None:
    """300 users, 2,000 blocks each way: KS of every count that varies, of rewards, and of products across steps."""
    mdp = PROBLEMS[name]
    policy = some_policy(mdp, seed=2)
    both = []
    for how, seed in (("walk", 8), ("sample", 9)):
        draw, rng = drawing(mdp, policy, how), generator(seed)
        x = np.array([draw(rng, 300)[0] for _ in range(2000)]).round(6)
        off = visits(x).sum(-1) - visits(x).sum(-1).mean(0)
        joint = off[:, 0, :, None] * off[:, -1, None]  # how the first step moves with the last one
        both.append(
            np.column_stack([x.reshape(2000, -1), joint.reshape(2000, -1), rewards(x).sum((1, 2, 3))]).T
        )
    varying = [(a, b) for a, b in zip(*both, strict=True) if a.std() > 0 or b.std() > 0]
    assert len(varying) > 10
    for a, b in varying:
        assert ks_samples(a, b) > LEVEL / len(varying)


@pytest.mark.parametrize("usual", [0, 1, 2])
def test_an_action_that_is_hardly_taken_keeps_its_digits(usual: int) -> None:
    """Of 10^15 users about 10 take one of chance 10^-14, and about 0.01 * 10^15 one of chance 0.01."""
    mdp = random_mdp(7, 1, 3, 1)
    chances = np.roll([1.0, 1e-14, 0.01], usual)[None, None]
    draw, rng = drawing(mdp, np.log(chances), "sample"), generator(12)
    n = np.array([visits(draw(rng, 10**15)[0])[0, 0] for _ in range(20_000)])
    np.testing.assert_array_equal(n.sum(-1), 10**15)
    n = np.roll(n, -usual, axis=-1)
    assert standard_errors(n[:, 1], 10.0) < critical()
    np.testing.assert_allclose(n[:, 2], 1e13, rtol=1e-5)


@pytest.mark.parametrize("how", ["walk", "sample"])
def test_a_policy_of_certain_chances_is_one_of_actions(how: str) -> None:
    """The same draws in the same order."""
    for mdp in PROBLEMS.values():
        policy = some_policy(mdp)
        certain = np.where(np.eye(mdp.A)[policy] > 0, 0.0, -np.inf)
        ours = drawing(mdp, policy, how, plain=True)(generator(3), 50)
        theirs = drawing(mdp, certain, how, plain=True)(generator(3), 50)
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)


# of three actions, one of them rare
SHARED = np.log([[[0.3, 0.68, 0.02]], [[0.05, 0.05, 0.9]]])
FIXED = PROBLEMS["random"], some_policy(PROBLEMS["random"], seed=3)


@pytest.mark.parametrize("how", ["walk", "sample"])
@pytest.mark.parametrize(
    ("mdp", "policy"), [FIXED, (random_mdp(6, 1, 3, 2), SHARED)], ids=["actions", "chances"]
)
def test_counts_have_binomial_marginals(mdp: TabularMDP, policy: Ints | Logits, how: str) -> None:
    """n[h, s, a] is Binomial(users, occupancy * chance): chi-square against the exact law, by quintiles."""
    users, blocks = 200, 2000
    draw, rng = drawing(mdp, policy, how), generator(10)
    n = np.array([visits(draw(rng, users)[0]) for _ in range(blocks)])
    taken = chances_of(mdp, policy)
    occupied = planning.occupancy(mdp, policy if policy.ndim == 2 else taken)[..., None] * taken
    for place in zip(*np.nonzero(occupied), strict=True):
        law = stats.binom(users, occupied[place])
        edges = np.unique(law.ppf([0.2, 0.4, 0.6, 0.8]))
        expected = np.diff([0.0, *law.cdf(edges), 1.0]) * blocks
        observed = np.bincount(np.searchsorted(edges, n[:, *place]), minlength=len(expected))
        assert chi_square(observed, expected, least=0) > LEVEL / np.count_nonzero(occupied)


# Binomial(n, p): where NumPy would lose digits a Poisson stands in


def draws_of(n: int, p: float, size: int, seed: int = 1) -> Array:
    rng = generator(seed)
    return np.array([binomial(rng, n, p) for _ in range(size)], dtype=float)


@pytest.mark.parametrize(("n", "p"), [(10**15, 1e-14), (10**12, 3e-12), (10**9, 9.9e-9)])
def test_rare_events_have_mean_and_variance_np(n: int, p: float) -> None:
    """200,000 draws: the mean of 10 comes out within 4 * 0.007; NumPy's own sampler gives 9.90."""
    draws = draws_of(n, p, 200_000)
    assert standard_errors(draws, n * p) < critical(2)
    assert standard_errors((draws - n * p) ** 2, n * p) < critical(2)


@pytest.mark.parametrize(
    ("n", "p"),
    [(10, 0.3), (1000, 0.01), (1000, 0.99), (10**6, 2e-8), (10**9, 2e-8), (10**15, 1e-7), (10**15, 0.35)],
)
def test_ordinary_ones_are_binomial(n: int, p: float) -> None:
    """Chi-square by deciles of the exact law."""
    draws, law = draws_of(n, p, 50_000), stats.binom(n, p)
    edges = np.unique(law.ppf(np.arange(0.1, 0.95, 0.1)))
    expected = np.diff([0.0, *law.cdf(edges), 1.0]) * draws.size
    observed = np.bincount(np.searchsorted(edges, draws), minlength=len(expected))
    assert chi_square(observed, expected, least=5) > LEVEL


def test_certain_and_impossible_events() -> None:
    rng = generator(0)
    assert binomial(rng, 0, 0.5) == 0
    assert binomial(rng, 10**15, 0.0) == 0
    assert binomial(rng, 10**15, 1.0) == 10**15
    assert rng.random() == generator(0).random()  # nothing was drawn


def test_compiled_draws_are_numpys() -> None:
    """Bit for bit, in every branch: numba's binomial and Poisson are NumPy's below NumPy 2.5."""
    machine = compiled(binomial, "int64(npy_rng, int64, float64)")
    chances = [0.0, 1.0, 0.5, 0.05, 0.95, 1e-3, 1e-7, 1e-9, 1e-14, 1 - 1e-9, 1 - 1e-3]
    plain, fast = generator(1), generator(1)
    for n in (0, 1, 5, 29, 100, 10**4, 10**9, 10**12, 10**15):
        for p in chances:
            for _ in range(200):
                assert machine(fast, n, p) == binomial(plain, n, p), (n, p)
    assert plain.random() == fast.random()


def test_rounding_in_the_model_never_leads_outside() -> None:
    """Rows that sum to a hair under 1 still end in a state that can be reached, even at the largest uniform draw."""

    class Largest(np.random.Generator):
        def random(self) -> float:  # type: ignore[override]
            return float(np.nextafter(1.0, 0.0))

    P = np.zeros((1, 4, 1, 4))
    P[..., :3] = [0.1, 0.2, 0.7 - 5e-10]
    mdp = TabularMDP(
        "short", P, np.zeros((1, 4, 1)), np.array([0.3, 0.7 - 5e-10, 0, 0]), tuple("0123"), ("0",)
    )
    model: Model = model_of(mdp)
    counts, starts = empty(1, 4, 1), np.zeros(4, dtype=np.int64)
    walk(Largest(np.random.SFC64(0)), model, np.zeros((1, 4), dtype=np.int64), 1, counts, starts)
    assert starts.tolist() == [0, 1, 0, 0]
    assert transitions(counts)[0, 1, 0].tolist() == [0, 0, 1, 0]
    counts, _ = drawing(mdp, np.zeros((1, 4), dtype=np.int64), "sample")(generator(1), 10**12)
    assert visits(counts).sum() == transitions(counts).sum() == 10**12
