"""DP-VAPVI, PEVI and DP-PEVI against their papers' algorithms, written out once more, trajectory by trajectory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import log, sqrt
from typing import Any

import numpy as np
import pytest

from dprl import OfflineSpec
from dprl.environments.linear_synthetic import features, make
from dprl.learners import OFFLINE
from dprl.learners.offline.learner import Learned, OfflineProblem
from dprl.learners.offline.linear import raised
from dprl.learners.offline.vapvi import DP_VAPVI
from dprl.mdp.tabular import Array
from dprl.metrics.attack import separation
from dprl.privacy.accounting import zcdp_of
from dprl.privacy.curator import CuratorNoise
from dprl.simulation import OfflineRun, datasets, start
from dprl.simulation.loops.offline import Curator, learned_from, noise_of_run, problem_of
from tests.compare import FIVE
from tests.people import Certain, same_tables
from tests.problems import finished

H, A = 4, 7
WORLD: dict[str, Any] = {"environment": "linear-synthetic", "environment_params": {"A": A, "H": H}}
PHI, MDP = features(A, H), make(A, H)


TODAY = np.full((H, 2, A), 0.4 / (A - 1))  # action 0 is taken in six steps of ten
TODAY[..., 0] = 0.6


def walked(n: int, seed: int) -> Array:
    """[H, S, A, S + 2] counts of n trajectories."""
    return datasets.sample(np.random.default_rng(seed), MDP, (datasets.Part(1.0, TODAY),), n)


def tuples(record: Array, step: int) -> Iterator[tuple[int, int, float, int]]:
    """Yield (s, a, r, s') of each trajectory at a step."""
    for s, a, x in np.ndindex(2, A, 2):
        paid = float(record[step, s, a, 3] / max(record[step, s, a, 2], 1))
        yield from [(s, a, paid, x)] * int(record[step, s, a, x])


Tables = tuple[Array, Array, Array, Array, Array]  # policy, Q_hat, Gamma, Q, V


def algorithm_2(D: Array, other: Array, K: int, c: dict[str, float]) -> Tables:
    """VAPVI: lines 1-16 without noise; `other` is the D' of lines 4-6. Steps are 1..H."""

    def variances(h: int, V: Array) -> Array:
        d = PHI.shape[-1]
        Sigma, square, value = c["lambda"] * np.eye(d), np.zeros(d), np.zeros(d)
        for s, a, _, x in tuples(other, h - 1):
            Sigma += np.outer(PHI[s, a], PHI[s, a])
            square += PHI[s, a] * V[x] ** 2
            value += PHI[s, a] * V[x]
        beta, theta = np.linalg.inv(Sigma) @ square, np.linalg.inv(Sigma) @ value
        found = np.clip(PHI @ beta, 0, (H - h + 1) ** 2) - np.clip(PHI @ theta, 0, H - h + 1) ** 2
        return np.maximum(found, 1.0)

    return regressed(D, c, sqrt(PHI.shape[-1]), variances=variances, more=c["D"] / K)


def pevi(D: Array, c: dict[str, float]) -> Tables:
    """Jin, Yang, Wang 2021, Algorithm 2, with penalty C d H |phi|."""
    return regressed(D, c, PHI.shape[-1] * H)


def dp_pevi(D: Array, c: dict[str, float]) -> Tables:
    """Ours, without noise: a regression of r + V around their middle. The units g drop out of it."""
    return regressed(D, c, sqrt(PHI.shape[-1]), middle_of=lambda V: (V[0] + V[1] + 1) / 2)


def regressed(
    D: Array,
    c: dict[str, float],
    width: float,
    *,
    middle_of: Callable[[Array], float] = lambda V: 0.0,
    variances: Callable[[int, Array], Array] = lambda h, V: np.ones((2, A)),
    more: float = 0.0,
) -> Tables:
    """Regress r + V around a middle, each tuple weighed by its variance, with the penalty C width |phi| + more."""
    phi, d = PHI, PHI.shape[-1]
    policy, V, (Q_hat, Gamma, Q) = np.zeros((H, 2)), np.zeros((H + 2, 2)), np.zeros((3, H, 2, A))
    for h in range(H, 0, -1):
        middle, sigma2 = middle_of(V[h + 1]), variances(h, V[h + 1])
        Lambda, target = c["lambda"] * np.eye(d), np.zeros(d)
        for s, a, r, x in tuples(D, h - 1):
            Lambda += np.outer(phi[s, a], phi[s, a]) / sigma2[s, a]
            target += phi[s, a] * (r + V[h + 1, x] - middle) / sigma2[s, a]
        inverse = np.linalg.inv(Lambda)
        for s in range(2):
            for a in range(A):
                Q_hat[h - 1, s, a] = middle + phi[s, a] @ inverse @ target
                Gamma[h - 1, s, a] = c["C"] * width * sqrt(phi[s, a] @ inverse @ phi[s, a]) + more
                Q[h - 1, s, a] = min(max(Q_hat[h - 1, s, a] - Gamma[h - 1, s, a], 0.0), H - h + 1)
            policy[h - 1, s] = max(range(A), key=lambda a: (Q[h - 1, s, a], -a))
            V[h, s] = Q[h - 1, s].max()
    return policy, Q_hat, Gamma, Q, V[1:]


def learned(key: str, records: tuple[Array, ...], n: int, **params: Any) -> Learned:
    """What a learner makes of what a curator without noise tells it."""
    spec = OfflineSpec(**WORLD, algorithm=key, algorithm_params=params, n=n)
    return learned_from(Certain(*records), OFFLINE[key].plan(problem_of(spec, n)))[0]


@pytest.mark.parametrize("data", ["halves", "whole"])
@pytest.mark.parametrize("params", [{}, {"lambda": 0.3, "C": 0.5, "D": 40.0}], ids=["default", "others"])
@pytest.mark.parametrize("n", [9, 400])
def test_every_table_is_the_papers(n: int, params: dict[str, float], data: str) -> None:
    """Without noise. No variance is above 1 here, so all weights are 1."""
    constants = {"lambda": 1.0, "C": 0.1, "D": 0.0, **params}
    parts = [walked(n // 2, 0), walked(n - n // 2, 1)] if data == "halves" else [walked(n, 0)]
    expected = algorithm_2(parts[-1], parts[0], n - n // 2 if data == "halves" else n, constants)
    for key in ("vapvi", "dp-vapvi"):
        ours = learned(key, tuple(parts), n, data=data, **params)
        same_tables(ours, expected)
        assert ours.repaired == 0


@pytest.mark.parametrize("data", ["halves", "whole"])
def test_steps_whose_next_value_varies_weigh_less(data: str) -> None:
    """Made-up counts: action 0 in state 0 alone is paid, and leads on to either state at the first step only."""
    n = 600
    record = np.zeros((H, 2, A, 4))
    record[:, 0, 0] = n, 0, n, n
    record[0, 0, 0, :2] = n // 2
    for a, here in ((0, n), (1, n // 2), (2, n // 3), (4, n // 4)):  # other numbers of visits break ties
        record[:, 1, a] = 0, here, here, 0
    records = (record, 2 * record) if data == "halves" else (record,)
    expected = algorithm_2(records[-1], record, n, {"lambda": 1.0, "C": 0.1, "D": 0.0})
    assert np.ptp(expected[4][1]) ** 2 / 4 > 1.5  # the variance of the next value
    for key in ("vapvi", "dp-vapvi"):
        same_tables(learned(key, records, n, data=data), expected)


@pytest.mark.parametrize("params", [{}, {"lambda": 0.3, "C": 0.01}], ids=["default", "others"])
@pytest.mark.parametrize(("key", "algorithm"), [("pevi", pevi), ("dp-pevi", dp_pevi)])
def test_every_table_of_least_squares_is_the_papers(
    key: str, algorithm: Callable[[Array, dict[str, float]], Tables], params: dict[str, float]
) -> None:
    D = walked(400, 2)
    expected = algorithm(D, {"lambda": 1.0, "C": 0.1, **params})
    same_tables(learned(key, (D,), 400, **params), expected)


@pytest.mark.parametrize("key", ["dp-vapvi", "dp-pevi"])
def test_matrices_are_shifted_by_half_of_e(key: str) -> None:
    """K = E/2 I + noise (Algorithm 2, line 2): as a ridge that is larger by E/2."""
    records, shift = (walked(60, 0), walked(60, 1)), 3.0
    tables = []
    for ridge, error in ((1.0, 2 * shift), (1.0 + shift, 0.0)):
        problem = problem_of(OfflineSpec(**WORLD, algorithm=key, algorithm_params={"lambda": ridge}), 120)
        errors = {f.name: error for f in OFFLINE[key].families(problem, "calibrated")}
        plan = OFFLINE[key].plan(replace(problem, errors=errors))
        tables.append(learned_from(Certain(*records), plan)[0])
    for one, other in zip(*tables, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)
    assert tables[0].Q.any()


def test_paper_noise_is_algorithm_2s() -> None:
    """Line 2, and Appendix A: rho_0 = rho/(5H)."""
    params = {f.name: f.default for f in DP_VAPVI.fields} | {"c1": 2.0, "c2": 0.5}
    problem = OfflineProblem(MDP.size, 100, 0.1, params, features=PHI)
    rho, d = 3.0, 10
    rho_0 = rho / (5 * H)
    scales = DP_VAPVI.paper_noise["zcdp"].scales(problem, rho)
    of_squares, of_values = 2 * H**4 / rho_0, 2 * H**2 / rho_0
    expected = dict.fromkeys(("gram", "weighted gram"), 1 / (4 * rho_0))
    expected |= {"square": of_squares, "value": of_values, "target": of_values}
    assert {name.rsplit(" ", 1)[0]: scale**2 for name, scale in scales.items()} == pytest.approx(expected)
    assert len(scales) == 5 * H
    E = DP_VAPVI.errors(problem, "gaussian", scales, "paper")
    as_in_paper = sqrt(d / rho_0) * (2 + (log(5 * 2.0 * H / 0.1) / (0.5 * d)) ** (2 / 3))
    assert list(E.values()) == pytest.approx([as_in_paper] * (2 * H))


@pytest.mark.parametrize(("data", "proved"), [("halves", 0.8), ("whole", 1.4)])
def test_what_noise_proves_when_one_trajectory_is_replaced(data: str, proved: float) -> None:
    """The matrices prove 2 rho_0 each: 2 + 1 + 1 of 5 on one half, 2 + 1 on the other."""
    fields: dict[str, Any] = {**WORLD, "algorithm": "dp-vapvi", "algorithm_params": {"data": data}}
    for rho in (0.1, 25.0):
        noise = noise_of_run(OfflineSpec(**fields, rho=rho))[0]
        assert noise.guarantee.proved_rho == pytest.approx(proved * rho, rel=1e-9)
        assert noise.guarantee.claimed_rho == rho
        places = [zcdp_of(losses) for losses in noise.losses]
        assert places == pytest.approx([0.8 * rho, 0.6 * rho] if data == "halves" else [1.4 * rho])

    # calibrated noise is smaller than noise as in the paper that proves the same: on all vectors, and together
    calibrated = noise_of_run(OfflineSpec(**fields, calibration="calibrated"))[0]
    paper = noise_of_run(OfflineSpec(**fields, rho=1 / proved))[0]
    assert 0.9999 < (calibrated.guarantee.proved_rho or 0) <= 1
    places = [zcdp_of(losses) for losses in calibrated.losses]
    assert places == pytest.approx([1.0] * len(places), rel=1e-4)  # no half has budget left
    ratios = {name: calibrated.scales[name] / paper.scales[name] for name in paper.scales}
    assert max(ratio for name, ratio in ratios.items() if "gram" not in name) < 1
    assert np.mean(np.log(list(ratios.values()))) < log(0.6)


@pytest.mark.parametrize("key", ["dp-vapvi", "dp-pevi"])
def test_no_query_moves_more_than_its_family_declares(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Queries of a run with noise: one trajectory elsewhere, all pairs of states, actions and next states."""
    spec = OfflineSpec(**WORLD, algorithm=key, calibration="calibrated", rho=50.0, n=10**6)
    run, learner = OfflineRun(spec, 0), OFFLINE[key]
    families = {f.name: f for f in learner.families(run.problem(spec.n), "calibrated")}
    records, rng = run.dataset(spec.n)
    curator, reached = Curator(records, run.noise, run.errors, rng), [0.0]
    release = curator.release

    def compared(query: Any) -> Array:
        one = []
        for s, a, x, reward in np.ndindex(2, A, 2, 2):  # the least and the largest reward
            record = np.zeros((H, 2, A, 4))
            record[:, s, a, [x, 2]] = 1
            record[:, s, a, 3] = reward
            one.append(query.answer(record, np.zeros(query.draws(MDP.size)), 0.0).ravel())
        if key == "dp-vapvi":
            one.append(np.zeros_like(one[0]))  # weights down to 0
        moved = max(float(((a - b) ** 2).sum()) for a in one for b in one)
        moved /= 2 if "gram" in query.family else 1
        declared = families[query.family].change.l2_squared
        assert moved <= declared * (1 + 1e-9)
        reached.append(moved / declared)
        return release(query)

    monkeypatch.setattr(curator, "release", compared)
    learned_from(curator, learner.plan(run.problem(spec.n)))
    assert max(reached) == pytest.approx(1)


def test_a_matrix_below_lambda_is_raised_and_counted() -> None:
    matrix = np.diag([5.0, 1.0, -3.0])
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    mended, bad = raised(rotation @ matrix @ rotation.T, 0.5)
    np.testing.assert_allclose(mended, rotation @ np.diag([5.0, 1.0, 0.5]) @ rotation.T, atol=1e-12)
    assert bad == 1
    assert raised(np.diag([5.0, 0.5]), 0.5)[1] == 0
    tiny = OfflineSpec(**WORLD, algorithm="dp-vapvi", rho=1e-4, n=10, algorithm_params={"c2": 1000.0})
    traces = [finished(start(tiny, seed)).trace() for seed in range(60)]
    assert all(np.isfinite(trace.Q).all() for trace in traces)
    assert 0 < sum(trace.repaired.sum() for trace in traces) < 60 * 2 * 2 * H  # beyond E/2 now and then


class Attacked(Curator):
    """Adds up the log-likelihood ratio of all releases, each after the ones before it, and their squared separation."""

    def __init__(self, own: Array, worlds: list[Array], noise: CuratorNoise, *rest: Any) -> None:
        super().__init__((own,), noise, *rest)
        self.worlds, self.scales, self.found = worlds, noise.scales, np.zeros(2)

    def release(self, query: Any) -> Array:
        released = super().release(query)
        first, second = (query.answer(w, np.zeros(query.draws(MDP.size)), 0.0) for w in self.worlds)
        # symmetric noise: each entry off the diagonal is there twice
        variance = (2 if "gram" in query.family else 1) * self.scales[query.family] ** 2
        ratio = ((released - second) ** 2 - (released - first) ** 2).sum() / 2
        self.found += np.array([ratio, ((first - second) ** 2).sum()]) / variance
        return released


@pytest.mark.thorough
@pytest.mark.parametrize("factor", [1.0, 0.25])
def test_the_best_attack_finds_no_more_than_is_proved(factor: float) -> None:
    """On all releases of one data set together, which follow from one another. A quarter of the noise is caught."""
    spec = OfflineSpec(**WORLD, algorithm="dp-vapvi", rho=1.0, algorithm_params={"data": "whole"}, n=10**4)
    as_in_paper, errors = noise_of_run(spec)
    scales = {name: factor * scale for name, scale in as_in_paper.scales.items()}
    noise = replace(as_in_paper, scales=scales)
    others = walked(300, 5) * 30
    worlds = []
    for s, a, reward in ((0, 0, 1.0), (1, A - 1, 0.0)):
        record = others.copy()
        record[:, s, a] += [1, 0, 1, reward]
        worlds.append(record)
    times, scores = 120, np.zeros((2, 120, 2))
    for which, i in np.ndindex(2, times):
        curator = Attacked(worlds[which], worlds, noise, errors, np.random.default_rng(2 * i + which))
        learned_from(curator, DP_VAPVI.plan(problem_of(spec, spec.n)))
        scores[which, i] = curator.found
    first, second = scores[..., 0]
    found = separation(first, second)
    proved = sqrt(2 * (as_in_paper.guarantee.proved_rho or 0.0))
    exact = scores[..., 1].mean()
    # the mean log-likelihood ratio is half the squared separation: the noise is as the accountant believes
    spread = np.concatenate([first - exact / 2, -second - exact / 2])
    assert abs(spread.mean()) < FIVE * spread.std(ddof=1) / sqrt(2 * times)
    if factor == 1.0:
        assert exact <= proved**2
        assert found.low <= proved
    else:
        assert found.low > proved
