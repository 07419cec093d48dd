"""The card of every run: what it says, that it survives the store, and what is refused with a sentence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dprl import RunSpec
from dprl.privacy import MECHANISMS, PRIVATIZERS
from dprl.privacy.accounting import delta_of, epsilon_of, gaussian_epsilon, gaussian_mu
from dprl.privacy.losses import Binomial
from dprl.privacy.mechanisms.gaussian import coefficients
from dprl.privacy.privatizers.privatizer import REFERENCE_DELTA, RETURNING, SMALL_DELTAS
from dprl.privacy.privatizers.shuffle import least_bits, paper_bits, paper_tau
from dprl.simulation import schedules
from dprl.simulation.loops.replan import SeedRun
from dprl.statistics import BLANK_ONE, REPLACE_ONE
from tests.privacy.draws import TRIPLES, prepared, replaced
from tests.problems import finished, first, refused

TIMES = [1, 2, 5, 30, 200, 3000]
DRAWN = {"central": "gaussian-optimal", "local": "gaussian", "shuffle": "binomial-sum"}  # what needs a delta


@pytest.mark.parametrize(("privacy", "mechanism", "calibration"), first(TRIPLES, lambda t: (t[0], t[2])))
def test_readings(privacy: str, mechanism: str, calibration: str) -> None:
    """At the spec's delta, at the reference one, and at 0 where something is proved there; both adjacencies."""
    noise = prepared(privacy, mechanism, calibration, TIMES, H=3, epsilon=0.3, delta=1e-5)
    card = noise.guarantee()
    ours = {(r.adjacency, r.delta): r.epsilon for r in card.readings if r.how == "our accountant"}
    deltas = {1e-5, REFERENCE_DELTA, *SMALL_DELTAS} | (set() if MECHANISMS[mechanism].needs_delta else {0.0})
    kinds = (REPLACE_ONE, BLANK_ONE) if PRIVATIZERS[privacy].words.blanked else (REPLACE_ONE,)
    assert set(ours) == {(a, d) for a in kinds for d in deltas}
    for delta in deltas:
        # blanking a user is half of replacing one
        assert 0 < ours[kinds[-1], delta] <= ours[REPLACE_ONE, delta]
    assert card.proved_epsilon == ours[REPLACE_ONE, 1e-5]
    assert noise.mechanism is not None
    reward = float(noise.scales[0] / noise.scales[-1])
    losses = noise.mechanism.losses(replaced(3, reward), float(noise.scales[0]), noise.stream)
    for delta in deltas:
        assert ours[REPLACE_ONE, delta] == max(epsilon_of(x, delta) for x in losses)


def test_the_papers_claim_of_shuffle_is_shown() -> None:
    """Basic composition over the 6H counters of replace-one."""
    card = prepared("shuffle", "binomial-sum", "paper", TIMES, H=3, epsilon=2.0, delta=1e-6).guarantee()
    basic = next(r for r in card.readings if r.how != "our accountant")
    assert (basic.epsilon, basic.delta) == (pytest.approx(4.0), pytest.approx(18e-6))


@pytest.mark.parametrize(("epsilon", "shown"), [(9.0, True), (9.01, False), (50.0, False)])
def test_the_papers_claim_of_shuffle_is_not_read_beyond_its_lemma(epsilon: float, shown: bool) -> None:
    """It has eps' = epsilon/(3H) <= 1. At H = 2, epsilon = 50 it would say (100, 1.2e-5), less than one counter has."""
    card = prepared("shuffle", "binomial-sum", "paper", TIMES, H=3, epsilon=epsilon, delta=1e-6).guarantee()
    assert any(r.how != "our accountant" for r in card.readings) == shown
    bits = paper_bits(np.array([10**9]), paper_tau(6, 50.0, 1e-6))[0]
    assert delta_of((Binomial(int(bits[0]), float(bits[1]), 1, 1),), 100.0) > 4e-5


def test_a_user_left_out_is_not_a_user_blanked() -> None:
    """K = 50,000, (1, 1e-6): blanked in place moves one item of the stream, 0.689; left out, all later users move up.

    With users who take turns between two trajectories, the sums then move at every other release: by C^-1 of that in
    the units of the noise z of C (C x + z).
    """
    times = schedules.times("geometric:0.01", 50_000)
    card = prepared("central", "gaussian-toeplitz", "calibrated", times, H=20, S=6, A=2).guarantee()
    (blanked,) = [r.epsilon for r in card.readings if (r.adjacency, r.delta) == (BLANK_ONE, 1e-6)]
    assert blanked == pytest.approx(0.689, abs=1e-3)
    c, turns = coefficients(len(times)), np.arange(len(times)) % 2
    inverse = np.cumprod(np.concatenate([[1.0], 1 - 1.5 / np.arange(1, len(times))]))
    assert np.convolve(c, inverse)[: len(times)] == pytest.approx(np.eye(len(times))[0], abs=1e-12)
    moved = [
        np.linalg.norm(np.convolve(inverse, x)[: len(times)]) for x in (turns, 1 - turns, turns + 1 - turns)
    ]
    mu = gaussian_mu(1.0, 1e-6) * np.linalg.norm(moved) / math.sqrt(2) / np.linalg.norm(c)
    assert gaussian_epsilon(float(mu), 1e-6) == pytest.approx(15.4, abs=0.05)


def test_what_the_same_noise_proves_at_smaller_deltas() -> None:
    """(1, 10^-6): 1.32, 1.58 and 1.80 at 10^-9, 10^-12 and 10^-15."""
    for privacy in DRAWN:
        card = prepared(privacy, DRAWN[privacy], "calibrated", TIMES, H=20).guarantee()
        found = {r.delta: r.epsilon for r in card.readings if r.adjacency == REPLACE_ONE}
        assert [found[d] for d in SMALL_DELTAS] == pytest.approx([1.3177, 1.5772, 1.8016], rel=2e-3)
        assert card.users == TIMES[-1]


def test_somebody_who_comes_back() -> None:
    """Ten times the mu with a trusted curator, ten own reports with no trusted party, else ten times epsilon."""
    mu = gaussian_mu(1.0, 1e-6)
    cards = {p: prepared(p, DRAWN[p], "calibrated", TIMES, H=20).guarantee() for p in DRAWN}
    found = {p: card.returning[1] for p, card in cards.items() if card.returning}
    assert {card.returning and card.returning[0] for card in cards.values()} == {RETURNING}
    assert found["central"] == pytest.approx(gaussian_epsilon(10 * mu, 1e-6), rel=1e-4)
    assert found["local"] == pytest.approx(gaussian_epsilon(math.sqrt(10) * mu, 1e-6), rel=1e-4)
    assert found["central"] < found["shuffle"] < 18  # by the general lemma: more than Gaussian noise needs
    paper = prepared("central", "laplace-tree", "paper", TIMES, H=20).guarantee()
    assert paper.returning == (RETURNING, pytest.approx(20.0))


def test_messages_of_a_user_are_on_the_card() -> None:
    """A batch of one has all its bits from one user, one of many has a bit of each."""
    card = prepared("shuffle", "binomial-sum", "calibrated", [1, 10**6], H=20, S=6, A=2).guarantee()
    fair = least_bits(60, 1.0, 1e-6)[0]
    assert f"2 to {fair + 1:,} bits for each of 1,920 counters" in card.messages


def test_two_runs_with_equal_seeds_cancel_their_noise() -> None:
    """What the card says of them: the first release of two budgets gives the true counts away."""
    spec = RunSpec(environment_params={"S": 3, "H": 2}, mechanism="gaussian-tree", episodes=300, seeds=1)
    runs = [finished(SeedRun(spec.replace(epsilon=epsilon), 0)) for epsilon in (1.0, 2.0)]
    (a, b), (s, t) = (one.trace() for one in runs), (one.noise.scales for one in runs)
    assert np.array_equal(a.counts[0], b.counts[0])
    found = (a.noisy[0] * t - b.noisy[0] * s) / (t - s)
    assert found == pytest.approx(a.counts[0], abs=1e-6)
    assert any("equal seeds" in text for text in a.guarantee.assumptions)


BLOCKS = {"privacy": "central", "mechanism": "gaussian-toeplitz", "schedule": "episodic", "episodes": 10**5}


@pytest.mark.parametrize(
    ("given", "field", "advice"),
    [
        ({"privacy": "central", "mechanism": "gaussian-tree", "delta": 0.0}, "delta", "laplace-tree"),
        ({"privacy": "local", "mechanism": "gaussian", "delta": 0.0}, "delta", "laplace"),
        ({"privacy": "shuffle", "delta": 0.0}, "delta", "above 0"),
        ({"privacy": "shuffle", "calibration": "paper", "delta": 0.0}, "delta", "above 0"),
        ({"privacy": "local", "mechanism": "laplace-tree"}, "mechanism", "unary, gaussian or laplace"),
        (BLOCKS, "schedule", "4,000"),
        ({"privacy": "shuffle", "epsilon": 0.001, "calibration": "paper"}, "epsilon", "larger"),
        ({"privacy": "shuffle", "epsilon": 1.0, "delta": 1e-20}, "delta", "1e-18"),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused_in_a_sentence(
    given: dict[str, Any], field: str, advice: str
) -> None:
    with refused(f"{field}: ") as caught:
        RunSpec(**given)
    assert advice in str(caught.value)
    assert ". " not in str(caught.value)  # one sentence
