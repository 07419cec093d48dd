"""What privatizers promise: scales, cards, and a bound on the noise that holds as often as it says."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dprl import MECHANISMS, PRIVATIZERS
from dprl.kernels import compiled
from dprl.mdp.tabular import Array
from dprl.privacy.mechanisms import SIGNATURE, memory
from dprl.privacy.privatizers import Noise, Request
from dprl.simulation import schedule
from tests.compare import LEVEL

PRIVATE = [(p.key, m) for p in PRIVATIZERS.values() for m in p.mechanisms]
H, S, A = 2, 2, 2


def prepared(
    privacy: str, mechanism: str, times: NDArray[np.int64], epsilon: float = 1.0, beta: float = 0.5
) -> tuple[Request, Noise]:
    calibration = PRIVATIZERS[privacy].calibrations[0]
    request = Request(H, S, A, times, mechanism, calibration, epsilon, delta=0.0, beta=beta)
    return request, PRIVATIZERS[privacy].prepare(request)


def simulated(noise: Noise, cells: int, runs: int, seed: int) -> Array:
    """Noise [releases, runs, cells] in counts, compiled. Cells are independent: one call makes all runs."""
    mechanism = noise.mechanism
    assert mechanism is not None
    add_noise = compiled(mechanism.add_noise, SIGNATURE)
    kept, rng = memory(mechanism, noise.leaves, runs * cells), np.random.Generator(np.random.SFC64(seed))
    unit, result = np.zeros(runs * cells), []
    for i in range(len(noise.leaves) - 2):
        add_noise(i, noise.leaves, kept, rng, unit)
        result.append(noise.scale * unit.reshape(runs, cells))
    return np.array(result)


@pytest.mark.parametrize(
    "times", [np.arange(1, 33), schedule.times("geometric:0.5", 10**6)], ids=["episodic", "geometric"]
)
@pytest.mark.parametrize(("privacy", "mechanism"), PRIVATE)
def test_the_bound_on_all_counters_at_all_releases_holds(
    privacy: str, mechanism: str, times: NDArray[np.int64]
) -> None:
    """|n^ - n|, |m^ - m| <= E/4 and |r^ - r| <= E for all with probability at least 1 - beta/3 (Assumption 3.1(1)).

    3,000 runs; the count of runs that break it is at most Binomial(3000, beta/3)'s quantile at LEVEL.
    """
    beta, runs = 0.5, 3000
    request, noise = prepared(privacy, mechanism, times, beta=beta)
    draws = np.abs(simulated(noise, request.cells, runs, seed=11)).reshape(len(times), runs, -1, S + 2)
    counts, rewards = draws[..., :-1].max((2, 3)), draws[..., -1].max(2)
    ratio = np.maximum(4 * counts, rewards) / noise.bound[:, None]
    broken = int((ratio.max(0) > 1).sum())
    assert broken <= stats.binom.isf(LEVEL, runs, beta / 3)
    # and the test can fail: half the bound would not hold
    assert (2 * ratio.max(0) > 1).sum() > stats.binom.isf(LEVEL, runs, beta / 3)


@pytest.mark.parametrize(("privacy", "mechanism"), PRIVATE)
def test_std_is_that_of_one_counter_at_the_worst_release(privacy: str, mechanism: str) -> None:
    times = schedule.times("geometric:0.5", 2000)
    _, noise = prepared(privacy, mechanism, times, epsilon=0.3)
    measured = simulated(noise, 1, 100_000, seed=12).std((1, 2))
    worst = measured.max()
    assert noise.std.shape == noise.bound.shape == times.shape
    # a standard deviation from 100,000 draws of at most kurtosis 6 has a standard error below 0.4%: five of them
    assert (measured <= 1.02 * noise.std).all()
    assert noise.std.max() == pytest.approx(worst, rel=0.02)
    assert noise.guarantee.noise_std == noise.std.max()


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 7.0])
@pytest.mark.parametrize(("privacy", "mechanism"), PRIVATE)
def test_card_and_printed_scale(privacy: str, mechanism: str, epsilon: float) -> None:
    times = np.array([1, 10, 1000])
    _, noise = prepared(privacy, mechanism, times, epsilon=epsilon)
    card = noise.guarantee
    printed = {"central": 3 * H * 10 / epsilon, "local": 3 * H / epsilon}  # 10 = floor(log2 1000) + 1 levels
    if card.model in ("JDP", "LDP") and privacy in printed and mechanism.startswith("laplace"):
        assert noise.scale == pytest.approx(printed[privacy])
        assert (card.claimed_epsilon, card.claimed_delta) == (epsilon, 0.0)
        assert (card.proved_epsilon, card.proved_delta) == (2 * epsilon, 0.0)
    assert card.noise_scale == noise.scale
    assert card.mechanism == MECHANISMS[mechanism].title
    assert "replace" in card.adjacency
    for text in (card.trust, card.unit, card.where, card.noise_formula, *card.assumptions, *card.sources):
        assert text
    assert card.sources
    assert card.to_dict()["model"] == card.model


def trajectory(rng: np.random.Generator) -> Array:
    """The record of one user's counts, [H, S, A, S + 2], with a reward anywhere in [0, 1] at each step."""
    counts, s = np.zeros((H, S, A, S + 2)), int(rng.integers(S))
    for h in range(H):
        a, x = int(rng.integers(A)), int(rng.integers(S))
        counts[h, s, a, [x, S]] += 1
        counts[h, s, a, S + 1] += rng.choice([0.0, 1.0, rng.random()])
        s = x
    return counts


@pytest.mark.parametrize(("privacy", "mechanism"), PRIVATE)
def test_proved_epsilon_covers_the_worst_pair_of_users(privacy: str, mechanism: str) -> None:
    """Laplace noise of scale b on numbers that a change moves by L1 proves L1 / b; a tree repeats it at each level."""
    if not mechanism.startswith("laplace"):
        pytest.skip("not additive Laplace noise")
    _, noise = prepared(privacy, mechanism, np.arange(1, 101))
    copies = 7 if mechanism == "laplace-tree" else 1  # a user is in at most one node of each of 7 levels
    rng = np.random.default_rng(13)
    moved = max(float(np.abs(trajectory(rng) - trajectory(rng)).sum()) for _ in range(5000))
    assert moved == pytest.approx(6 * H)  # the worst pair was among them
    assert noise.guarantee.proved_epsilon == pytest.approx(copies * moved / noise.scale)


def test_without_privacy_there_is_no_noise() -> None:
    request = Request(H, S, A, np.array([1, 5]), "", "", 0.0, 0.0, 0.1)
    noise = PRIVATIZERS["none"].prepare(request)
    assert noise.mechanism is None
    assert noise.scale == 0.0
    assert not noise.bound.any()
    assert not noise.std.any()
    assert noise.guarantee.claimed_epsilon is None
    assert noise.guarantee.proved_epsilon is None


@pytest.mark.parametrize("key", PRIVATIZERS)
def test_registry(key: str) -> None:
    privatizer = PRIVATIZERS[key]
    assert privatizer.key == key
    assert set(privatizer.mechanisms) <= MECHANISMS.keys()
    assert bool(privatizer.mechanisms) == bool(privatizer.calibrations) == (key != "none")
    for text in (privatizer.title, privatizer.summary, privatizer.trust):
        assert text
        assert "\n" not in text
