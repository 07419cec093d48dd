"""What a curator's noise proves when one trajectory is replaced, and that the best attack finds no more."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.metrics.attack import separation, surely
from dprl.privacy.accounting import gaussian_epsilon, gaussian_mu, separation_of
from dprl.privacy.curator import PROMISES, Budget, CuratorNoise, calibrated_scales
from dprl.privacy.mechanisms import MECHANISMS
from dprl.simulation import OfflineSpec
from dprl.simulation.loops.offline import Curator, noise_of_run
from dprl.statistics import DATASET, TRANSITIONS, Change
from dprl.statistics.family import Family, Query
from tests.compare import LEVEL
from tests.problems import of_data

SMALL = {"environment": "random", "environment_params": {"S": 3, "A": 2, "H": 4}, "n": 100}
H = 4
SIZE = Size(3, 2, H)


def noise_of(**fields: object) -> CuratorNoise:
    return noise_of_run(OfflineSpec(**{"algorithm": "dp-apvi"} | SMALL | fields))[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("rho", [0.01, 1.0, 25.0])
def test_paper_gaussian_noise_proves_exactly_rho(rho: float) -> None:
    """QW23-offline Lemma C.1: sigma^2 = 2H/rho, and a trajectory moves 4H counters by one."""
    card = noise_of(rho=rho).guarantee
    assert card.noise_scale == pytest.approx(math.sqrt(2 * H / rho))
    assert card.claimed_rho == rho
    exact = Fraction(4 * H) / (
        2 * Fraction(card.noise_scale or 0) ** 2
    )  # of the scale, not the root of 2H/rho
    assert exact <= Fraction(card.proved_rho or 0) <= exact * (1 + Fraction(1, 10**11))
    assert card.proved_rho == pytest.approx(rho, rel=1e-11)
    assert card.claimed_epsilon is None
    assert card.proved_epsilon == pytest.approx(gaussian_epsilon(math.sqrt(2 * rho), 1e-6))
    assert card.proved_delta == 1e-6
    blanked = [r.epsilon for r in card.readings if r.adjacency == "blank-one" and r.delta == 1e-6]
    assert blanked == [pytest.approx(gaussian_epsilon(math.sqrt(rho), 1e-6))]  # half as many counters


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_paper_laplace_noise_proves_exactly_epsilon(epsilon: float) -> None:
    card = noise_of(privacy="pure", epsilon=epsilon).guarantee
    assert card.noise_scale == pytest.approx(4 * H / epsilon)
    assert (card.claimed_epsilon, card.claimed_delta) == (epsilon, 0.0)
    assert (card.proved_epsilon, card.proved_delta) == (pytest.approx(epsilon), 0.0)
    smaller = [r.epsilon for r in card.readings if r.adjacency == "replace-one" and r.delta == 1e-6]
    assert 0 < smaller[0] < epsilon


@pytest.mark.parametrize(
    "budget",
    [
        {"rho": 0.3},
        {"privacy": "pure", "epsilon": 2.0},
        {"privacy": "approximate", "epsilon": 2.0, "delta": 1e-5},
    ],
)
def test_calibrated_noise_proves_the_budget_and_hardly_more(budget: dict[str, object]) -> None:
    card = noise_of(**budget, calibration="calibrated").guarantee
    if "rho" in budget:
        claimed, proved = card.claimed_rho, card.proved_rho
    else:
        claimed, proved = card.claimed_epsilon, card.proved_epsilon
        assert (card.claimed_delta, card.proved_delta) == (budget.get("delta", 0.0),) * 2
    assert 0.9999 * (claimed or 0) < (proved or 0) <= (claimed or 0) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("steps", "rho", "episodes"), [(7, 0.3, 1), (12, 0.77, 1), (3, 2.7, 3), (10, 1e-3, 3)]
)
def test_no_rho_that_is_said_to_be_proved_is_below_the_exact_one(
    steps: int, rho: float, episodes: int
) -> None:
    """In fractions, of the scales as they are. To the nearest of 12 digits it was below by up to 1.7e-12 of it."""
    for algorithm in ("dp-kl-lcb", "dp-kl-lcb-rewards"):
        params = {"S": 3, "A": 2, "H": steps}
        noise = noise_of(**of_data(algorithm), rho=rho, contribution=episodes, environment_params=params)
        exact = sum(Fraction(steps * episodes**2) / Fraction(scale) ** 2 for scale in noise.scales.values())
        assert exact <= Fraction(noise.guarantee.proved_rho or 0) <= exact * (1 + Fraction(1, 10**11))
        assert exact <= Fraction(rho)


def test_noise_follows_weights_and_halves() -> None:
    """Two halves of a data set compose in parallel, what is released of one half in sequence."""
    one = Change(((1, 1.0),))
    families = [
        Family("a", "a", one, one, times=3, weight=1.0, half=0),
        Family("b", "b", one, one, times=1, weight=2.0, half=1),
        Family("c", "c", one, one, times=2, weight=0.5, half=1),
    ]
    asked = Budget(PROMISES["zcdp"], rho=0.7)
    scales = calibrated_scales(MECHANISMS["gaussian"], families, asked)
    assert scales["b"] == 2 * scales["a"] == 4 * scales["c"]
    first, second = 3 / scales["a"] ** 2 / 2, 1 / scales["b"] ** 2 / 2 + 2 / scales["c"] ** 2 / 2
    assert max(first, second) == pytest.approx(0.7, rel=1e-4)
    assert max(first, second) <= 0.7


class Raw:
    """A query that releases noisy counts before they are projected: nobody can see more."""

    family = "counts"
    half = 0

    def draws(self, size: Size) -> int:
        return DATASET.draws(size)

    def answer(self, record: Array, noise: Array, error: float) -> Array:
        return record[..., :-1].ravel() + noise


def worlds() -> tuple[Array, Array]:
    """Counts of two data sets that differ in one trajectory, which is elsewhere at every step: [H, S, A, S + 2]."""
    others = np.random.default_rng(0).integers(0, 9, (H, 3, 2, 5)).astype(float)
    first, second = others.copy(), others.copy()
    for h in range(H):
        first[h, 0, 0, [0, 3]] += 1
        second[h, 1, 1, [1, 3]] += 1
    return first, second


@pytest.mark.parametrize("factor", [1.0, 0.5])
@pytest.mark.parametrize(
    ("algorithm", "query", "moved"),
    [("dp-apvi", Raw(), 4 * H), ("dp-kl-lcb", TRANSITIONS, 2 * H)],
    ids=["counts", "transitions"],
)
@pytest.mark.parametrize(
    "budget", [{"rho": 0.5}, {"privacy": "pure", "epsilon": 4.0}], ids=["gaussian", "laplace"]
)
def test_the_best_attack_reaches_the_proof_and_not_more(
    budget: dict[str, object], algorithm: str, query: Query, moved: int, factor: float
) -> None:
    """Scores are log-likelihood ratios of what the curator releases. With half the noise it is caught."""
    noise = noise_of(**budget, **of_data(algorithm))
    assert noise.mechanism is not None
    scale = noise.scales[query.family]
    weak = replace(noise, scales={query.family: factor * scale})

    def told(seen: Array) -> Array:
        """Nothing that is told beside it is not a function of it."""
        return seen[..., : SIZE.S] if query is TRANSITIONS else seen

    means = [told(query.answer(record, np.zeros(query.draws(SIZE)), 0.0)) for record in worlds()]
    assert np.abs(means[0] - means[1]).sum() == moved

    def score(seen: Array) -> float:
        off = [(seen - mean) / (factor * scale) for mean in means]
        first, second = (x**2 / 2 if "rho" in budget else np.abs(x) for x in off)
        return float((second - first).sum())

    rng, times = np.random.default_rng(1), 2000
    scores = [
        np.array([score(told(Curator((m,), weak, {}, rng).release(query))) for _ in range(times)])
        for m in worlds()
    ]
    found = separation(scores[0], scores[1])
    proved = separation_of(noise.losses[0])
    spread = (found.high - found.low) / (2 * 1.96)
    if factor == 1.0:
        assert abs(found.value - proved) < stats.norm.isf(LEVEL) * spread
        assert surely(scores[0], scores[1], 1e-6) <= (noise.guarantee.proved_epsilon or 0.0)
    else:
        assert found.low > 1.5 * proved
    if "rho" in budget:
        assert proved == pytest.approx(math.sqrt(2 * 0.5), rel=1e-5)
        assert gaussian_mu(gaussian_epsilon(proved, 1e-6), 1e-6) == pytest.approx(proved)


def test_what_is_not_accounted_for_is_not_released() -> None:
    """The same answer with other noise, again and again, would have no noise on average."""
    noise, record = noise_of(rho=1.0), worlds()[0]
    curator = Curator((record, record), noise, {}, np.random.default_rng(0))
    curator.release(Raw())
    other = Raw()
    other.half = 1
    for query in (Raw(), other):
        with pytest.raises(RuntimeError, match="than the privacy budget covers"):
            curator.release(query)
