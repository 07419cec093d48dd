"""What users send: one-hot questions and shuffled bits, against users one by one; bounds, and the budget."""

from __future__ import annotations

import itertools
import math
from collections import namedtuple
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats

from dprl import RunSpec
from dprl.engine import compiled, rng_type, type_of
from dprl.environments import ENVIRONMENTS
from dprl.mdp import TabularMDP
from dprl.mdp.tabular import Array
from dprl.privacy import MECHANISMS, PRIVATIZERS
from dprl.privacy.accounting import delta_of, epsilon_of
from dprl.privacy.attack import game
from dprl.privacy.errors import binomial_tail
from dprl.privacy.losses import Binomial, Response
from dprl.privacy.mechanisms import SIGNATURE, make_stream
from dprl.privacy.mechanisms.unary import UNARY, asking, response
from dprl.privacy.privatizers import Noise
from dprl.privacy.privatizers.shuffle import calibrated_bits, paper_bits
from dprl.simulation.blocks import interview, model_of
from dprl.simulation.loops.module_run import ModuleRun
from dprl.statistics import FITTED, NOISY
from tests.compare import FIVE, LEVEL, chi_square, ks_samples, standard_errors
from tests.privacy.draws import generator, prepared, replaced, request, unit_noise
from tests.problems import finished

SHARES = (2 / 3, 1 / 6, 1 / 6)


def likelihood(ones: tuple[int, ...], held: int | None, bit: float) -> float:
    """Of an answer about a one-hot vector, by definition: each bit is turned over with chance 1 / (e^bit + 1)."""
    truth = [int(i == held) for i in range(len(ones))]
    return math.prod(math.exp(bit * (a == b)) / (math.exp(bit) + 1) for a, b in zip(ones, truth, strict=True))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 9.0])
def test_no_answers_are_likelier_by_more_than_epsilon_and_some_are_by_as_much(epsilon: float) -> None:
    """All answers of a user about each step, by all pairs of cells (or none: a reward of 0)."""
    for H in (1, 2, 7):
        groups, bit, steps = asking(H, SHARES, epsilon)[0]
        assert steps == math.ceil(H / groups)  # of steps g, g + groups, ..., at most
        worst = max(
            likelihood(ones, a, bit) / likelihood(ones, b, bit)
            for ones in itertools.product((0, 1), repeat=4)
            for a, b in itertools.permutations((0, 1, 2, 3, None), 2)
        )
        assert steps * math.log(worst) == pytest.approx(epsilon, rel=1e-12)
        proved = UNARY.losses(replaced(H, 0.5), 1.0, _noise(H, epsilon).stream)
        assert epsilon - 1e-12 < epsilon_of(proved[0], 0.0) <= epsilon


def _noise(H: int, epsilon: float, times: tuple[int, ...] = (1,)) -> Noise:
    return prepared(
        "local", "unary", "calibrated", list(times), H=H, S=2, A=2, epsilon=epsilon, statistic=FITTED
    )


@pytest.mark.parametrize(("count", "shift"), [(2, 0.5), (6, 1.5), (40, 0.1)])
def test_what_answers_prove_beside_delta_is_that_of_the_binomial_law_of_their_loss(
    count: int, shift: float
) -> None:
    k = np.arange(count + 1)
    mass, losses = stats.binom.pmf(k, count, 1 / (1 + math.exp(-shift))), (2 * k - count) * shift
    for epsilon in (0.3 * count * shift, 0.71 * count * shift):
        exact = float((mass * np.maximum(-np.expm1(epsilon - losses), 0.0)).sum())
        assert exact <= delta_of((Response(count, shift),), epsilon) <= 1.01 * exact
    assert delta_of((Response(count, shift),), count * shift) == 0.0
    assert epsilon_of((Response(count, shift),), 0.0) == pytest.approx(count * shift)


def test_steps_are_dealt_out_for_the_least_variance_of_a_count_that_all_are_in() -> None:
    for epsilon, groups in ((0.1, 20), (1.0, 20), (3.0, 10), (10.0, 4), (300.0, 1)):
        found, bit, steps = asking(20, SHARES, epsilon)[0]
        assert (found, steps) == (groups, math.ceil(20 / groups))
        for g in range(1, 21):
            other = epsilon / (2 * math.ceil(20 / g))
            assert (response(bit)[2] + 1) * found <= (response(other)[2] + 1) * g * (1 + 1e-9)
    assert response(1.0)[2] == pytest.approx(math.e / (math.e - 1) ** 2)  # p (1 - p) / (2p - 1)^2


SIZES = {"S": 2, "A": 2, "H": 3, "seed": 4}


@cache
def world() -> TabularMDP:
    return ENVIRONMENTS["random"].make(**SIZES | {"H": 5})


def one_by_one(noise: Noise, policy: Array, users: int, rng: np.random.Generator) -> Array:
    """[H, S, A, S + 2] the error of the estimates, with users who play and answer one after the other."""
    mdp, (groups, bit, _), shares = world(), noise.stream.batches[0], noise.stream.batches[-1]
    H, S, A = mdp.R.shape
    total, kept = np.zeros((H, S, A, S + 2)), 1 / (1 + math.exp(-bit))
    for _ in range(users):
        record, answered = np.zeros(total.shape), np.zeros(total.shape)
        s, group = rng.choice(S, p=mdp.d1), rng.integers(groups)
        for h in range(H):
            a = policy[h, s]
            x, reward = rng.choice(S, p=mdp.P[h, s, a]), float(rng.random() < mdp.R[h, s, a])
            record[h, s, a, [x, S]] = 1.0
            record[h, s, a, S + 1] = reward
            if h % groups == group:
                part = rng.choice(3, p=shares)
                about = (slice(0, S), slice(S, S + 1), slice(S + 1, S + 2))[part]
                bits = record[h, ..., about]
                bits = np.where(rng.random(bits.shape) < kept, bits, 1 - bits)
                answered[h, ..., about] = (bits - (1 - kept)) / (2 * kept - 1) / (shares[part] / groups)
            s = x
        total += answered - record
    return total


Asked = namedtuple("Asked", "groups shares")
Block = namedtuple("Block", "policy counts memory starts there")


def in_a_block(noise: Noise, policy: Array, users: int, runs: int) -> Array:
    """[runs, H, S, A, S + 2] the same from the engine's kernels."""
    mdp, model, stream = world(), model_of(world()), noise.stream
    counts, error = np.zeros((*mdp.R.shape, mdp.S + 2)), np.zeros(mdp.R.size * (mdp.S + 2))
    block = Block(policy, counts, np.zeros((5, error.size)), *np.zeros((2, mdp.S), dtype=np.int64))
    rngs = [generator(seed) for seed in (2, 3)]
    given = (model, Asked(int(stream.batches[0, 0]), stream.batches[-1].copy()), block)
    ask = compiled(interview, type_of(None)(type_of(1), rng_type(), rng_type(), *map(type_of, given)))
    turn_over = compiled(UNARY.add_noise, SIGNATURE)
    found, truth = [], np.zeros(error.size)
    for _ in range(runs):
        error[:] = 0.0
        ask(users, *rngs, *given)
        assert sum(block.starts) == users
        truth += block.memory[2]
        turn_over(0, stream.leaves, stream.batches, block.memory, rngs[1], error)
        found.append(error.reshape(counts.shape) * noise.scales)
    assert np.array_equal(truth, counts.ravel())
    return np.array(found)


@pytest.mark.thorough
@pytest.mark.parametrize(("epsilon", "groups"), [(1.0, 5), (4.0, 3), (12.0, 1)])
def test_blocks_are_users_asked_one_by_one(epsilon: float, groups: int) -> None:
    """Chi-square of errors in cells of m, n and r, of sums over a step, and of products of two steps; at LEVEL. Three
    groups of five steps: some users are asked twice, others once."""
    policy, users, runs = np.array([[0, 1], [1, 0], [0, 0], [0, 1], [1, 1]]), 12, 1500
    noise, rng = _noise(5, epsilon), np.random.default_rng(1)
    assert noise.stream.batches[0, 0] == groups
    theirs = np.array([one_by_one(noise, policy, users, rng) for _ in range(runs)])
    ours = in_a_block(noise, policy, users, runs)
    for view in VIEWS:
        a, b = (view(x).round(9) for x in (ours, theirs))
        edges = np.unique(np.quantile(np.concatenate([a, b]), [0.2, 0.4, 0.6, 0.8]))
        table = [np.bincount(np.searchsorted(edges, x), minlength=len(edges) + 1) for x in (a, b)]
        seen = np.array(table)[:, np.sum(table, axis=0) > 0]
        assert stats.chi2_contingency(seen).pvalue > LEVEL / (3 * len(VIEWS))


VIEWS: list[Callable[[Array], Array]] = [
    lambda e: e[:, 0, 0, 0, 0],  # of m, n and r where many are
    lambda e: e[:, 1, 0, 1, 2],
    lambda e: e[:, 2, 1, 0, 3],
    lambda e: e[:, 1, 0, 0, 1],  # where nobody can be
    lambda e: e[:, 0, 0, 0, 0] * e[:, 0, 0, 0, 1],  # two cells of one answer
    lambda e: e[:, 0, 0, 0, 0] * e[:, 0, 0, 0, 2],  # of two answers about a step
    lambda e: e[:, 0, 1, 1, 2] * e[:, 1, 1, 0, 3],  # about two steps
    lambda e: e[:, 0, 1, 1, 2] * e[:, 3, 1, 1, 3],  # of one group, if there are three
    lambda e: e[:, 1, :, :, :2].sum((1, 2, 3)),  # all of an answer
]


def test_the_stated_variance_is_that_of_a_count_that_all_are_in() -> None:
    """n of one state at H = 1, by the law of one user's estimate: unasked it is 0, and each answer has its value."""
    noise = prepared("local", "unary", "calibrated", [1], H=1, S=1, A=1, epsilon=1.0, statistic=FITTED)
    (groups, bit, _), _, shares = noise.stream.batches
    asked, kept = shares[1] / groups, 1 / (1 + math.exp(-bit))
    chances = asked * np.array([kept, 1 - kept])
    estimates = np.array([kept, kept - 1]) / (2 * kept - 1) / asked
    assert chances @ estimates == pytest.approx(1.0)
    assert chances @ estimates**2 - 1 == pytest.approx(float(noise.std[0]) ** 2)


@pytest.mark.thorough
@pytest.mark.parametrize("learner", ["dp-ucbvi", "private-ucb-vi"])
def test_all_three_bounds_hold_in_whole_runs_and_are_not_loose(learner: str) -> None:
    """|n^ - n|, |m^ - m| <= E/4 and |r^ - r| <= E, and the length of a row's error, at beta = 0.5, with the learner in
    the loop, whose release times follow from what was released."""
    spec = RunSpec(
        algorithm=learner, environment="random", environment_params=SIZES, privacy="local", mechanism="unary",
        beta=0.5, episodes=10**6,
    )  # fmt: skip
    runs, worst, longest = 60, [], []
    for seed in range(runs):
        run = finished(ModuleRun(spec, seed))
        worst.append(run.record.ratio[-1])
        radius = run.noise.radius()
        for detail in run._details:
            row = np.searchsorted(run.noise.ends, detail.episode)
            error = (detail.noisy - detail.counts) / run.noise.scales
            longest.append(np.linalg.norm(error, axis=-1).max() / radius[row])
    assert np.quantile(worst, 0.5) >= 0.5
    for ratio in (worst, longest):
        failed = int((np.array(ratio) > 1).sum())
        assert stats.binomtest(failed, runs, 0.5 / 3, alternative="greater").pvalue > LEVEL
    assert max(longest) > 0.5


def test_questions_are_about_what_is_declared_possible_alone() -> None:
    spec = RunSpec("chain", privacy="local", mechanism="unary", episodes=10**8, structure="environment")
    run = finished(ModuleRun(spec, 0))
    assert 0.2 < run.record.ratio[-1] < 1
    error, counts = run.state.noisy - run.state.counts, run.state.counts
    assert np.isnan(error[..., :-2]).any()
    assert not np.isnan(error[..., -2:]).any()
    # cells of one kind have errors of one kind: none was taken for another's
    for part, scale in ((slice(0, -2), 1.0), (-2, 2.0), (-1, 2.0)):
        found = error[..., part]
        std = float(run.noise.std[-1]) / 2 * scale
        assert np.sqrt(np.nanmean(found**2)) == pytest.approx(0.9 * std, rel=0.15)
    assert counts[0, ..., -2].sum() == 10**8


@pytest.mark.parametrize("half", [False, True])
def test_scores_of_the_best_attack_are_the_losses_that_are_proved(half: bool) -> None:
    """Two users who are in other cells at every step: two bits of each answer differ, whatever is asked."""
    noise = prepared("local", "unary", "calibrated", [1], H=4, S=2, A=1, epsilon=6.0, statistic=NOISY)
    first, second = np.zeros((2, 4, 2, 1, 4))
    first[:, 0, 0, [0, 2, 3]] = 1.0
    second[:, 1, 0, [1, 2, 3]] = 1.0
    played = game(noise, first.ravel(), second.ravel(), half=half)
    scores, others = played.play(np.random.default_rng(4), 20_000)
    (loss,) = UNARY.losses(replaced(4, 1.0), 1.0, played.stream)[0]
    assert isinstance(loss, Response)
    assert bool(loss.count * loss.shift > 6.5) == half
    law = stats.binom.pmf(np.arange(loss.count + 1), loss.count, 1 / (1 + math.exp(-loss.shift)))
    for found in (scores, -others):
        kinds = np.round((found / loss.shift + loss.count) / 2).astype(int)
        np.testing.assert_allclose(found, (2 * kinds - loss.count) * loss.shift, atol=1e-9)
        assert stats.chisquare(np.bincount(kinds, minlength=loss.count + 1), law * 20_000).pvalue > LEVEL
    if half:
        bit, twice = noise.stream.batches[0, 1], played.stream.batches[0, 1]
        assert response(twice)[2] == pytest.approx(response(bit)[2] / 4)


def test_a_spec_has_no_delta_and_the_card_says_so() -> None:
    spec = RunSpec(privacy="local", mechanism="unary", delta=1e-5)
    assert spec == RunSpec(privacy="local", mechanism="unary")
    assert spec.delta == 0.0
    card = ModuleRun(spec, 0).noise.guarantee()
    assert (card.claimed_delta, card.proved_delta, card.proved_epsilon) == (0.0, 0.0, 1.0)
    assert card.noise_scale == pytest.approx(120 / math.tanh(0.25))  # visits, of one bit about n
    assert card.messages == "one answer of 72 bits (about m) or 12 (about n or r)"
    assert spec.replace(mechanism="gaussian").delta == 1e-6


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
