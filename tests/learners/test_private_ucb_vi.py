"""Private-UCB-VI: what its bonus as in the paper covers of the noise, and where it is said that it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dprl.learners import ALGORITHMS, Problem
from dprl.learners.tabular.private_ucb_vi import UNCOVERED, constants, plan
from dprl.mdp.structure import every_state
from dprl.mdp.tabular import Array
from dprl.privacy import PRIVATIZERS
from dprl.simulation.pairs import calibrations_for
from dprl.simulation.prepare import guarantee_of, noise_of_schedule
from dprl.statistics.counts import Counts
from tests.contract.test_pairs import small_spec

H, S, E1 = 2, 2, 1e6


def planned(users: float, rewards: float, cap: str = "H") -> Array:
    """Q [H] of state 0 under the worst noise, where everybody is in state 0, stays there and has rewards of 1.

    The row of the first step has had so many users, others none. n~ = n + E1, m~ = m - E1 and r~ = r - rewards.
    """
    problem = Problem(H, S, 1, 10**9, 0.1, 1.0, "calibrated", "paper", {"cap": cap})
    released = np.zeros((H, S, 1, S + 2))
    released[0, 0, 0] = [users - E1, -E1, users + E1, users - rewards]
    Q, V, policy = np.zeros((H, S, 1)), np.zeros((H + 1, S)), np.zeros((H, S), dtype=np.int64)
    plan(released, np.full(Q.shape, 4 * E1), every_state(S), constants(problem), Q, V, policy)
    return Q[:, 0, 0]


def test_it_covers_paper_noise_and_calibrated_noise_after_E1_users_but_not_before() -> None:
    best = float(H)
    assert planned(0, E1)[0] == best  # noise as in the paper is as large in r as in n
    assert planned(0, 4 * E1)[0] == pytest.approx(best - 0.5, abs=0.02)
    assert planned(E1 / 2, 4 * E1)[0] == pytest.approx(best - 0.2, abs=0.02)
    assert planned(E1, 4 * E1)[0] == best
    assert planned(0, 4 * E1, cap="H-h")[0] == best


@pytest.mark.parametrize("privacy", [p.key for p in PRIVATIZERS.values() if p.mechanisms])
def test_the_card_says_so_just_where_noise_in_rewards_is_larger_than_in_counts(privacy: str) -> None:
    larger = set()
    first, *others = PRIVATIZERS[privacy].mechanisms
    asked = [(first, "calibrated", bonus) for bonus in ALGORITHMS["private-ucb-vi"].bonuses]
    asked += [(key, sized, "paper") for key in others for sized in calibrations_for("private-ucb-vi", key)]
    usual: dict[str, Any] = {"epsilon": 0.3, "episodes": 1000, "schedule": "geometric:0.3"}
    for chosen in asked:
        spec = small_spec("riverswim", "private-ucb-vi", privacy, *chosen, **usual)
        noise = noise_of_schedule(spec, spec.episodes)
        assert isinstance(noise.statistic, Counts)
        short = spec.bonus == "paper" and noise.statistic.reward < noise.statistic.visits
        larger.add(short)
        assert (UNCOVERED in guarantee_of(spec, noise).assumptions) == short, spec
    assert larger == ({False} if privacy == "shuffle" else {False, True})
