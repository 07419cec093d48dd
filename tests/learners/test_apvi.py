"""DP-APVI against Algorithm 1 of QW23-offline, written out once more from the paper, slowly and plainly."""

from __future__ import annotations

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
import pytest

from dprl.learners import OFFLINE
from dprl.learners.offline.learner import Learned, OfflineProblem
from dprl.mdp import Size, TabularMDP
from dprl.mdp.tabular import Array
from dprl.simulation.loops.offline import learned_from
from dprl.statistics import DATASET, REWARDS
from tests.compare import LEVEL
from tests.learners.test_kl_lcb import data
from tests.people import Again, same_tables
from tests.problems import random_mdp

BETA = 0.1
AS_IN_PAPER = {"pessimism": "bernstein", "C1": sqrt(2), "C2": 16.0, "C": 1.0, "C3": 0.0}


class Tables(NamedTuple):
    policy: Array
    Q_hat: Array
    Gamma: Array
    Q: Array
    V: Array


def algorithm_1(
    n: Array, m: Array, r: Array, E: float, delta: float, c: dict[str, Any], E_r: float | None = None
) -> Tables:
    """n: [H, S, A] and m: [H, S, A, S], released counts. Steps are numbered 1..H as in the paper.

    E_r: r holds released sums of rewards, whose noise is at most E_r/2.
    """
    H, S, A = r.shape
    iota = log(H * S * A / delta)
    V = np.zeros((H + 2, S))
    tables = Tables(
        np.zeros((H, S)), np.zeros((H, S, A)), np.zeros((H, S, A)), np.zeros((H, S, A)), V[1 : H + 2]
    )
    for h in range(H, 0, -1):
        for s in range(S):
            for a in range(A):
                visits = n[h - 1, s, a]
                P = [m[h - 1, s, a, x] / visits for x in range(S)] if visits > E else [1 / S] * S
                mean = sum(P[x] * V[h + 1, x] for x in range(S))
                if visits > E:
                    variance = sum(P[x] * (V[h + 1, x] - mean) ** 2 for x in range(S))
                    if c["pessimism"] == "hoeffding":
                        first = c["C1"] * H * sqrt(iota / (visits - E))
                    else:
                        first = c["C1"] * sqrt(variance * iota / (visits - E))
                    penalty = first + c["C2"] * S * H * E * iota / visits + c["C3"] * H * iota / visits
                    reward = r[h - 1, s, a]
                    if E_r is not None:
                        reward = min(max(reward / visits, 0), 1)
                        penalty += sqrt(iota / 2 / (visits - E)) + (E_r / 2 + E) / visits
                else:
                    penalty = c["C"] * H
                    reward = r[h - 1, s, a] if E_r is None else 0.0
                value = reward + mean
                tables.Q_hat[h - 1, s, a] = value
                tables.Gamma[h - 1, s, a] = penalty
                tables.Q[h - 1, s, a] = max(min(value - penalty, H - h + 1), 0)
            best = max(range(A), key=lambda a: (tables.Q[h - 1, s, a], -a))
            tables.policy[h - 1, s] = best
            V[h, s] = tables.Q[h - 1, s, best]
    return tables


def learned(key: str, released: Array, mdp: TabularMDP, E: float, **params: Any) -> Learned:
    """What a learner makes of a release."""
    problem = OfflineProblem(mdp.size, 100, BETA, {**AS_IN_PAPER, **params}, mdp.R, errors={"counts": E})
    curator = Again(released)
    found = learned_from(curator, OFFLINE[key].plan(problem))[0]
    assert curator.asked == [DATASET]
    return found


@pytest.mark.parametrize(("n", "scale"), [(60, 0.0), (10**4, 3.0), (10**8, 20.0)])
def test_rewards_are_learned_from_sums_of_them(n: int, scale: float) -> None:
    mdp, record = data(n % 7, n)
    E, rng = 4 * scale, np.random.default_rng(1)
    released = DATASET.answer(record, scale * rng.normal(size=DATASET.draws(mdp.size)), E)
    sums = REWARDS.answer(record, 4 * scale * rng.normal(size=REWARDS.draws(mdp.size)), 0.0)
    expected = algorithm_1(released[..., -2], released[..., :-2], sums, E, BETA, AS_IN_PAPER, E_r=4 * E)
    errors = {"counts": E, "rewards": 4 * E}
    for key in ("apvi", "dp-apvi"):
        curator = Again(released, sums)
        plan = OFFLINE[key].plan(OfflineProblem(mdp.size, n, BETA, AS_IN_PAPER, errors=errors))
        same_tables(learned_from(curator, plan)[0], expected)
        assert curator.asked == [DATASET, REWARDS]


@pytest.mark.parametrize(
    "params",
    [{}, {"pessimism": "hoeffding"}, {"C1": 0.3, "C2": 0.02, "C": 0.1}, {"C3": 7 / 3}],
    ids=["paper", "hoeffding", "small", "C3"],
)
@pytest.mark.parametrize(("n", "scale"), [(60, 0.0), (10**6, 0.0), (10**4, 3.0), (10**8, 20.0)])
def test_every_table_is_the_papers(n: int, scale: float, params: dict[str, Any]) -> None:
    mdp, m = data(n % 7, n)
    E = 4 * scale
    noise = scale * np.random.default_rng(1).normal(size=DATASET.draws(mdp.size))
    released = DATASET.answer(m, noise, E)
    expected = algorithm_1(released[..., -2], released[..., :-2], mdp.R, E, BETA, {**AS_IN_PAPER, **params})
    if scale == 0:
        np.testing.assert_array_equal(released[..., :-1], m[..., :-1])  # noise off: the data themselves
    for key in ("apvi", "dp-apvi"):
        same_tables(learned(key, released, mdp, E, **params), expected)
    known = released[..., -2] > E
    assert known.any()
    assert n > 60 or not known.all()


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_the_error_bounds_hold_as_often_as_they_say(mechanism: str) -> None:
    """|noise| <= E/2 on all counts in 1 - beta of the releases: as in the paper, and by quantiles, which is smaller."""
    from scipy import stats

    size, beta = Size(2, 2, 3), 0.3
    learner, problem = OFFLINE["dp-apvi"], OfflineProblem(size, 100, beta, AS_IN_PAPER)
    scales = learner.paper_noise["zcdp" if mechanism == "gaussian" else "pure"].scales(problem, 1.0)
    calibrated, paper = (
        learner.errors(problem, mechanism, scales, calibration)["counts"]
        for calibration in ("calibrated", "paper")
    )
    logarithm = log((4 if mechanism == "gaussian" else 2) * 3 * 2**2 * 2 / beta)
    assert paper == pytest.approx(4 * sqrt(3 * logarithm) if mechanism == "gaussian" else 8 * 3 * logarithm)
    assert calibrated < paper
    rng, times = np.random.default_rng(0), 4000
    draw = rng.normal if mechanism == "gaussian" else rng.laplace
    worst = np.abs(draw(scale=scales["counts"], size=(times, DATASET.draws(size)))).max(1)
    for error in (calibrated, paper):
        failures = int((worst > error / 2).sum())
        assert stats.binomtest(failures, times, beta, "greater").pvalue > LEVEL
    assert (worst > calibrated / 2).mean() > beta / 2  # and it is not loose


def test_a_pair_seen_once_has_no_penalty_without_noise_as_in_the_paper() -> None:
    """Which is why V~ of APVI as in the paper is no lower bound; with C3 it has one."""
    mdp = random_mdp(0, 2, 2, 2)
    released = np.zeros((2, 2, 2, 4))
    released[:, 0, 0] = [1, 0, 1, 0]
    assert learned("apvi", released, mdp, 0.0).penalty[0, 0, 0] == 0.0
    assert learned("apvi", released, mdp, 0.0, C3=7 / 3).penalty[0, 0, 0] == pytest.approx(
        7 / 3 * 2 * log(80)
    )


def test_learners_say_where_v_is_no_proved_bound() -> None:
    defaults = {key: {f.name: f.default for f in learner.fields} for key, learner in OFFLINE.items()}
    proved = {key for key, learner in OFFLINE.items() if not learner.unproved(defaults[key])}
    assert proved == {"dp-apvi", "dp-kl-lcb"}
    assert "C2 = 1" in OFFLINE["dp-apvi"].unproved(defaults["dp-apvi"] | {"C2": 1.0})
    assert OFFLINE["apvi"].unproved(defaults["apvi"] | {"C3": 7 / 3}) == ""
