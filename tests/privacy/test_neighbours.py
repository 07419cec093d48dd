"""Attacks: two data sets that differ in one user, and the best test for telling their releases apart.

The releases of both are simulated many times with the mechanisms' own kernels, and scored by the likelihood ratio on
the mechanism's record, than which no test is better. For an event {L > e} the shares in which it happens, with
Clopper-Pearson at 99.99% around each, give lower bounds
    epsilon >= ln((P - delta) / Q)  and  delta(e) >= P - e^e Q
for whatever the noise truly guarantees. They must not exceed what the accountant proves, and must exceed it when
the noise is half as large as stated.

Then data sets that differ in one trajectory: what a curator's noise proves, and that the best attack finds no more.
"""

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
from dprl.privacy import MECHANISMS
from dprl.privacy.accounting import delta_of, epsilon_of, gaussian_epsilon, gaussian_mu, separation_of
from dprl.privacy.curator import PROMISES, Budget, CuratorNoise, calibrated_scales
from dprl.privacy.losses import Losses
from dprl.privacy.privatizers import Noise
from dprl.simulation import OfflineSpec
from dprl.simulation.loops.offline import Curator, noise_of_run
from dprl.statistics import DATASET, TRANSITIONS, Change
from dprl.statistics.family import Family, Query
from tests.compare import LEVEL
from tests.contract.seen import trajectories_of, user_of
from tests.privacy.draws import TRIPLES, least_epsilon, prepared, ratios, replaced, shares, unit_noise
from tests.problems import first, of_data

REPETITIONS = 20_000  # enough to catch half the noise, which is asserted
OF_THE_FAR_SIDE = 50_000  # for an event of 1 in 64 by one data set, and of e^-4 of that by the other


def losses_drawn(
    noise: Noise, H: int, at: int, seed: int, repetitions: int = REPETITIONS
) -> tuple[Array, Array]:
    """[repetitions] of ln P[x | first] / P[x | second] for releases x of the first data set, and of the second.

    They differ in the user who enters at release `at`, who is elsewhere at every step and always has a reward of 1: H
    counters of each kind are larger by one in the first, and as many in the second. All else is the same in both.
    """
    assert noise.mechanism is not None
    own = np.repeat(1 / noise.scales[[0, 0, -1]], H)  # in counters of n, m and r
    unit = unit_noise(noise.mechanism, noise.stream, repetitions * 6 * H, seed)
    users = np.append(own, 0 * own), np.append(0 * own, own)
    return ratios(noise.mechanism, noise.stream, unit.reshape(-1, repetitions, 6 * H), at, *users)


def least_delta(drawn: tuple[Array, Array], epsilon: float) -> float:
    low, high = shares(drawn, epsilon)
    return low - math.exp(epsilon) * high


def most_delta(drawn: tuple[Array, Array], epsilon: float) -> float:
    """An upper bound on P - e^epsilon Q of the event {L > epsilon}."""
    low, high = shares((-drawn[0], -drawn[1]), -epsilon)  # of the complement
    return (1 - low) - math.exp(epsilon) * (1 - high)


def halved(noise: Noise) -> Noise:
    assert noise.mechanism is not None
    stream, factor = noise.mechanism.halved(noise.stream)
    return replace(noise, stream=stream, scales=factor * noise.scales)


def proved_losses(noise: Noise, H: int, batches: slice = slice(None)) -> tuple[Losses, ...]:
    """What the card accounts for, each place in the stream; batches: of bits, those that are there."""
    assert noise.mechanism is not None
    stream, reward = noise.stream, noise.scales[0] / noise.scales[-1]
    if noise.mechanism is MECHANISMS["binomial-sum"]:
        stream = replace(stream, batches=stream.batches[batches])
    return noise.mechanism.losses(replaced(H, float(reward)), float(noise.scales[0]), stream)


SETTINGS = {
    # all prefixes are released, so the tree's nodes can be told apart; the first user is in the most of them
    "central": ([1, 2, 3, 4, 5, 6, 7], (0, 3)),
    "local": ([1, 2, 3], (0, 2)),
    # many fair bits for few users, few for some, rare bits for many
    "shuffle": ([3, 60, 10_000_000], (0, 1, 2)),
}


@pytest.mark.parametrize(
    ("privacy", "mechanism", "calibration", "H"),
    first([(*triple, 1) for triple in TRIPLES if triple[0] != "shuffle"], lambda given: given[0])
    # Shuffled bits: simulation/test_attack.py holds their outcomes against what is said of them at each run.
    + [pytest.param(*triple, 1, marks=pytest.mark.thorough) for triple in TRIPLES if triple[0] == "shuffle"]
    + [pytest.param(*t, 2, marks=pytest.mark.thorough) for t in TRIPLES if t[2] == "calibrated"],
)
def test_no_test_beats_the_proof_and_half_the_noise_is_caught(
    privacy: str, mechanism: str, calibration: str, H: int
) -> None:
    """At delta = 0.01, for calibrated noise of (1, 0.01) and for the paper's noise, and on the curve delta(epsilon).

    The paper's shuffle noise of epsilon = 1 proves 0.05, too little to be measured: 5.
    """
    times, places = SETTINGS[privacy]
    if H > 1:
        times, places = times[:2], places[:1]
    delta = 0.01
    as_in_paper = calibration == "paper"
    asked = {"epsilon": 5.0, "delta": delta} if privacy == "shuffle" and as_in_paper else {"epsilon": 1.0}
    if not as_in_paper:
        asked["delta"] = delta
    noise = prepared(privacy, mechanism, calibration, times, H=H, **asked)
    card, curves = noise.guarantee(), proved_losses(noise, H)
    proved = max(epsilon_of(losses, delta) for losses in curves)
    if card.proved_delta == delta:
        assert card.proved_epsilon == pytest.approx(proved, rel=1e-9)
    checked = {proved, *(epsilon_of(curves[0], d) for d in (0.2, 0.05))} - {0.0}
    allowed = {epsilon: max(delta_of(losses, epsilon) for losses in curves) for epsilon in checked}
    for at in places:
        drawn = losses_drawn(noise, H, at, seed=10 * at)
        for sides in (drawn, (-drawn[1], -drawn[0])):  # and with the data sets exchanged
            assert least_epsilon(sides, proved, delta) <= proved
            for epsilon in checked:
                assert least_delta(sides, epsilon) <= allowed[epsilon]
        if MECHANISMS[mechanism].rows(1, 1) > 0 and at > 0:
            continue  # draws are in several releases, and such users in fewer of them than the worst, who is proved for
        # the best attack comes as far as is proved of this place: an upper bound on its delta is not below
        alone = proved_losses(noise, H, slice(at, at + 1))
        assert most_delta(drawn, proved) > max(delta_of(losses, proved) for losses in alone)
        less = losses_drawn(halved(noise), H, at, seed=10 * at + 5)
        assert least_epsilon(less, proved, delta) > proved
        assert least_delta(less, proved) > delta


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("calibration", ["calibrated", "paper"])
@pytest.mark.parametrize(("privacy", "mechanism"), [("central", "laplace-tree"), ("local", "laplace")])
def test_pure_epsilon_of_laplace_noise(
    privacy: str, mechanism: str, calibration: str, epsilon: float
) -> None:
    """H = 1, one release: all six counters on the far side, 1 in 64, shows the whole of epsilon."""
    noise = prepared(privacy, mechanism, calibration, [1], epsilon=epsilon, delta=0.0)
    proved = noise.guarantee().proved_epsilon or math.inf
    assert proved == pytest.approx(epsilon if calibration == "calibrated" else 2 * epsilon)
    drawn = losses_drawn(noise, 1, 0, seed=1, repetitions=OF_THE_FAR_SIDE)
    assert max(x.max() for x in drawn) <= proved + 1e-9
    bound = least_epsilon(drawn, proved - 1e-6, 0.0)
    assert bound <= proved
    less = losses_drawn(halved(noise), 1, 0, seed=2, repetitions=OF_THE_FAR_SIDE)
    assert least_epsilon(less, 2 * proved - 1e-6, 0.0) > proved


def test_no_pair_of_trajectories_moves_more_than_is_accounted_for() -> None:
    """All pairs at H = 2, S = 2, rewards 0 or 1: L1, L2 and the largest move, of n, m and r."""
    rows = [user_of(Size(2, 1, 2), 1.0, 1.0, *one) for one in trajectories_of(Size(2, 1, 2))]
    allowed = replaced(2, 0.25).moves
    moves = np.array([x - y for x in rows for y in rows]).reshape(len(rows) ** 2, 4, 4)
    assert np.abs(moves).max() <= 1
    assert (moves > 0).sum((1, 2)).max() == (moves < 0).sum((1, 2)).max() == 3 * 2
    assert np.abs(moves[..., :-1]).sum((1, 2)).max() <= allowed[0][0]
    assert np.abs(moves[..., -1]).sum(1).max() <= allowed[1][0]


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
