"""DP-APVI against Algorithm 1 of QW23-offline, written out once more from the paper, slowly and plainly."""

from __future__ import annotations

from math import log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dprl.learners import OFFLINE
from dprl.learners.offline.learner import Learned, OfflineProblem
from dprl.mdp import Size
from dprl.mdp.tabular import Array
from dprl.simulation.loops.offline import learned_from
from dprl.statistics import DATASET, REWARDS
from tests.compare import LEVEL
from tests.learners.test_kl_lcb import data
from tests.people import Again, same_tables

BETA = 0.1
AS_IN_PAPER = {"pessimism": "bernstein", "C1": sqrt(2), "C2": 16.0, "C": 1.0, "C3": 0.0}


def algorithm_1(
    n: Array, m: Array, r: Array, E: float, delta: float, c: dict[str, Any], E_r: float | None
) -> Learned:
    """n: [H, S, A] and m: [H, S, A, S], released counts. Steps are numbered 1..H as in the paper.

    E_r: r holds released sums of rewards, whose noise is at most E_r/2.
    """
    H, S, A = r.shape
    iota = log(H * S * A / delta)
    V = np.zeros((H + 2, S))
    Q_hat, penalties, Q = np.zeros((3, H, S, A))
    tables = Learned(np.zeros((H, S), dtype=np.int64), Q_hat, penalties, Q, V[1:])
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
                tables.penalty[h - 1, s, a] = penalty
                tables.Q[h - 1, s, a] = max(min(value - penalty, H - h + 1), 0)
            best = max(range(A), key=lambda a: (tables.Q[h - 1, s, a], -a))
            tables.policy[h - 1, s] = best
            V[h, s] = tables.Q[h - 1, s, best]
    return tables


@pytest.mark.parametrize(
    "params",
    [{}, {"pessimism": "hoeffding"}, {"C1": 0.3, "C2": 0.02, "C": 0.1}, {"C3": 7 / 3}],
    ids=["paper", "hoeffding", "small", "C3"],
)
@pytest.mark.parametrize(("n", "scale"), [(60, 0.0), (10**6, 0.0), (10**4, 3.0), (10**8, 20.0)])
def test_every_table_is_the_papers(n: int, scale: float, params: dict[str, Any]) -> None:
    """With rewards that are known, and with those that are learned from sums of them."""
    mdp, record = data(n % 7, n)
    E, rng, params = 4 * scale, np.random.default_rng(1), AS_IN_PAPER | params
    released = DATASET.answer(record, scale * rng.normal(size=DATASET.draws(mdp.size)), E)
    sums = REWARDS.answer(record, 4 * scale * rng.normal(size=REWARDS.draws(mdp.size)), 0.0)
    if scale == 0:
        np.testing.assert_array_equal(released[..., :-1], record[..., :-1])  # noise off: the data themselves
    for rewards, r, E_r in ((mdp.R, mdp.R, None), (None, sums, 4 * E)):
        expected = algorithm_1(released[..., -2], released[..., :-2], r, E, BETA, params, E_r)
        problem = OfflineProblem(mdp.size, n, BETA, params, rewards, errors={"counts": E, "rewards": 4 * E})
        for key in ("apvi", "dp-apvi"):
            curator = Again(released, sums)
            same_tables(learned_from(curator, OFFLINE[key].plan(problem))[0], expected[:5])
            assert curator.asked == [DATASET, REWARDS][: 2 - (r is rewards)]
    known = released[..., -2] > E
    assert known.any()
    assert n > 60 or not known.all()


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_the_error_bounds_hold_as_often_as_they_say(mechanism: str) -> None:
    """|noise| <= E/2 on all counts in 1 - beta of the releases: as in the paper, and by quantiles, which is smaller."""
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


def test_learners_say_where_v_is_no_proved_bound() -> None:
    defaults = {key: {f.name: f.default for f in learner.fields} for key, learner in OFFLINE.items()}
    proved = {key for key, learner in OFFLINE.items() if not learner.unproved(defaults[key])}
    assert proved == {"dp-apvi", "dp-kl-lcb"}
    assert "C2 = 1" in OFFLINE["dp-apvi"].unproved(defaults["dp-apvi"] | {"C2": 1.0})
    assert OFFLINE["apvi"].unproved(defaults["apvi"] | {"C3": 7 / 3}) == ""
