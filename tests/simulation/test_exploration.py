"""The claim that RLSVI's own draws hide a user: the formula, the scripted users, and what is read off them."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
from scipy.stats import norm

from dprl import ALGORITHMS, RunSpec, SpecError
from dprl.learners.tabular.rlsvi import claimed_epsilon
from dprl.mdp import Size
from dprl.mdp.structure import every_state
from dprl.metrics import of_threshold
from dprl.privacy import Guarantee
from dprl.simulation import kinds
from dprl.simulation.exploration import (
    CROWD,
    DULL,
    FORK,
    HUB,
    IDLE,
    TARGET,
    WITNESS,
    Held,
    exploration,
    of_one_row,
    play_told,
    visit,
)  # fmt: skip

SPEC = RunSpec(algorithm="rlsvi", episodes=1000, seeds=1)


def test_the_card_says_whose_claim_it_is_and_proves_nothing() -> None:
    """S = 6, A = 2, H = 20: rho = 4K/(400 ln 480)."""
    rho = 4 * 1000 / (400 * log(480))
    epsilon = rho + 2 * sqrt(rho * log(1e6))
    assert claimed_epsilon(Size(6, 2, 20), 1000, 1e-6) == pytest.approx(epsilon, rel=1e-12)
    card = Guarantee.from_dict(kinds.answered(kinds.answer("guarantee", SPEC)))
    assert card.stated == pytest.approx((epsilon, 1e-6, "Lu, Gajane, Bai, Talebi 2026"))
    assert (card.claimed_epsilon, card.proved_epsilon, card.readings) == (None, None, ())
    other = kinds.answered(kinds.answer("guarantee", SPEC.replace(algorithm="ucbvi")))
    assert "stated" not in other


def held(H: int) -> Held:
    cells = np.zeros((H, 4, 2))
    return Held(
        np.zeros((H, 4, 2, 6)), cells, cells.copy(), np.zeros((H + 1, 4)), np.zeros((H, 4), dtype=np.int64)
    )


@pytest.mark.parametrize("turned", [0, 1])
def test_users_follow_their_scripts(turned: int) -> None:
    """The target goes on to the hub after one action, to the dull state after the other: that alone is turned."""
    one = held(4)
    one.policy[0, FORK], one.policy[2, FORK], one.policy[:, HUB] = 0, 1, 1
    assert visit(TARGET, turned, one) == 1
    first, second = (HUB, DULL) if turned == 0 else (DULL, HUB)
    assert one.released[0, FORK, 0, first] == one.released[2, FORK, 1, second] == 1
    assert one.released[1, first, int(first == HUB), FORK] == 1
    crowd, witness = held(4), held(4)
    assert visit(CROWD, turned, crowd) == 2  # of nobody's interest
    assert visit(WITNESS, turned, witness) == 2
    assert (
        crowd.released[[0, 2], IDLE, 0, HUB].tolist()
        == crowd.released[[1, 3], HUB, 0, IDLE].tolist()
        == [1, 1]
    )
    assert witness.released[[0, 2], FORK, 0, DULL].tolist() == [1, 1]
    for some in (one, crowd, witness):
        np.testing.assert_array_equal(some.released[..., 4], some.released[..., :4].sum(-1))
        assert some.released[..., 4].sum() == 4
        assert not some.released[..., 5].any()


def test_what_is_told_is_told_by_the_learner() -> None:
    """One crowd, target and witness by hand, with the same draws."""
    H, mine, theirs = 4, held(4), held(4)
    learner = ALGORITHMS["rlsvi"]
    constants = learner.constants(_problem(H))  # type: ignore[attr-defined]
    told = np.zeros(2, dtype=np.int64)
    play_told(np.random.default_rng(3), 3, 0, every_state(4), constants, mine, told)
    rng, seen = np.random.default_rng(3), []
    for _ in range(2):
        theirs.released[:] = 0
        for who in (CROWD, TARGET, WITNESS):
            draws = rng.standard_normal((H, 4, 2))
            learner.plan(  # type: ignore[attr-defined]
                theirs.released,
                np.zeros((H, 4, 2)),
                every_state(4),
                constants,
                draws,
                theirs.Q,
                theirs.V,
                theirs.policy,
            )
            count = visit(who, 0, theirs)
        seen.append(count)
    assert told.tolist() == seen
    np.testing.assert_array_equal(mine.Q, theirs.Q)


def _problem(H: int) -> object:
    from dprl.learners import Problem

    return Problem(H, 4, 2, 3, 0.1, None, None, "paper", {})


@pytest.mark.parametrize("delta", [1e-6, 1e-2])
def test_what_drawn_values_reveal_is_the_divergence_of_two_normal_laws(delta: float) -> None:
    """One draw: of variance 1/2 or 1, either way round, by integrating on a grid."""
    x = np.linspace(-12, 12, 400_001)
    narrow, wide = norm.pdf(x, scale=sqrt(0.5)), norm.pdf(x)
    epsilon = of_one_row(1, delta)
    assert epsilon > 0
    found = [
        np.maximum(p - np.exp(epsilon) * q, 0).sum() * (x[1] - x[0])
        for p, q in ((narrow, wide), (wide, narrow))
    ]
    assert max(found) == pytest.approx(delta, rel=1e-3)
    assert of_one_row(0, delta) == 0.0


def test_a_threshold_finds_the_epsilon_of_randomised_response_and_none_where_there_is_none() -> None:
    share = np.exp(1.0) / (1 + np.exp(1.0))
    rng = np.random.default_rng(0)
    right = rng.binomial(10**5, share, size=(2, 2))
    answers = np.array([[[10**5 - k, k], [j, 10**5 - j]] for k, j in right])
    found = of_threshold(answers[0], answers[1], 0.0)
    assert found.low < 1.0 < found.high
    assert found.high - found.low < 0.1
    same = np.array([[500, 500], [500, 500]])
    assert of_threshold(same, same, 0.0).low == 0.0


def test_it_is_asked_of_rlsvi_alone() -> None:
    assert exploration(SPEC)["told"] is None  # the scripts are of four states
    with pytest.raises(SpecError, match="rlsvi") as error:
        exploration(SPEC.replace(algorithm="ucbvi"))
    assert error.value.field == "algorithm"
