"""DP-KL-LCB where steps are declared to be alike: against docs/notes/kl-lcb.md, written out plainly, and its proof."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil, hypot, lgamma, log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dprl import OfflineSpec, SpecError, TabularMDP
from dprl.learners import OFFLINE, PUBLIC
from dprl.learners.offline import kl_lcb
from dprl.learners.offline.learner import Learned, OfflineProblem
from dprl.mdp import Size, planning
from dprl.mdp.counts import transitions, visits
from dprl.mdp.tabular import Array
from dprl.simulation import datasets
from dprl.simulation.loops.offline import Curator, OfflineRun, learned_from, noise_for, noise_of_run
from dprl.statistics import REWARDS, TRANSITIONS
from tests.compare import LEVEL
from tests.learners.test_kl_lcb import BETA, BOTH, NOTIONS, cases
from tests.problems import few, of_data, random_mdp
from tests.simulation.test_stationary import CHANGING


def alike(seed: int, S: int, A: int, H: int) -> TabularMDP:
    """A random model whose steps are those of its first."""
    mdp = random_mdp(seed, S, A, H, sparse=bool(seed % 3))
    return replace(mdp, P=np.repeat(mdp.P[:1], H, axis=0), R=np.repeat(mdp.R[:1], H, axis=0))


def ever(n: float, free: int, chance: float) -> float:
    """ln(C(n + free, free) / chance)."""
    return lgamma(n + free + 1) - lgamma(n + 1) - lgamma(free + 1) - log(chance)


def row_of_next(m: Array, V: Array, E: float, chance: float) -> tuple[float, float]:
    """What the next state of one row is worth: about, and at least. E: |noise . f| <= E |f|_2, for all f."""
    S, n, low, high = len(V), m.sum(), V.min(), V.max()
    fewest = n - E * sqrt(S)
    if fewest < 1:
        return V.mean(), low
    q = m @ V / n
    error = E * np.linalg.norm(V - q) / fewest
    squares = m @ (V - q) ** 2 + E * np.linalg.norm((V - q) ** 2) + error**2 * (2 * n + fewest)
    variance, x = np.clip(squares / fewest, 0, (high - low) ** 2 / 4), ever(fewest, S - 1, chance) / fewest
    above, q = np.clip(q + error, low, high) - low, np.clip(q, low, high)
    return q, max(q - error - sqrt(2 * variance * x) - above * x, low)


def row_of_reward(total: float, n: float, S: int, E: float, E_r: float, chance: float) -> tuple[float, float]:
    """The same of its reward."""
    fewest = n - E * sqrt(S)
    if fewest < 1:
        return 0.0, 0.0
    error, mean = hypot(E_r, E * sqrt(S) * total / n) / fewest, float(np.clip(total / n, 0, 1))
    p = np.linspace(max(mean - error, 0), min(mean + error, 1), 20_001)
    x = ever(fewest, 1, chance) / fewest
    return mean, max(p[0] - sqrt(2 * float((p * (1 - p)).max()) * x) - p[-1] * x, 0.0)


@pytest.mark.parametrize("key", BOTH)
@pytest.mark.parametrize(("n", "scale"), [(60, 0.0), (10**4, 3.0), (10**7, 20.0)])
def test_every_table_is_that_of_the_proof(key: str, n: int, scale: float) -> None:
    mdp, learns, rng = alike(n % 7, 4, 3, 5), key.endswith("rewards"), np.random.default_rng(1)
    S, A, H = mdp.S, mdp.A, mdp.H
    record = datasets.sample(rng, mdp, datasets.parts("epsilon-optimal:0.5", mdp), n)
    released = TRANSITIONS.answer(record, scale * rng.normal(size=TRANSITIONS.draws(mdp.size)), 0.0)
    sums = REWARDS.answer(record, 4 * scale * rng.normal(size=REWARDS.draws(mdp.size)), 0.0)
    E, E_r = 9 * scale, 40 * scale
    errors = {"transitions": E * sqrt(S), "rewards": E_r} if scale else {}
    problem = OfflineProblem(mdp.size, n, BETA, {}, None if learns else mdp.R, errors=errors, stationary=True)
    found = learned(problem, released, sums)

    chance = BETA / ((1, 2, 2, 5)[2 * learns + (scale > 0)] * S * A)
    m, whole = released[:-1, ..., :S].sum(0), released[..., S].sum(0)
    V = np.zeros((H + 1, S))
    for h in reversed(range(H)):
        Q = np.zeros((S, A))
        for s, a in np.ndindex(S, A):
            later = row_of_next(m[s, a], V[h + 1], E, chance)[1]
            total = sums[:, s, a].sum()
            now = row_of_reward(total, whole[s, a], S, E, E_r, chance)[1] if learns else mdp.R[h, s, a]
            Q[s, a] = np.clip(now + later, 0, H - h)
        np.testing.assert_allclose(found.Q[h], Q, rtol=0, atol=2e-6)
        V[h] = Q.max(-1)
    np.testing.assert_allclose(found.V, V, rtol=0, atol=2e-6)
    assert n == 60 or V[0].max() > 0.05


def learned(problem: OfflineProblem, released: Array, sums: Array) -> Learned:
    """What a learner makes of what was released."""
    plan = OFFLINE["dp-kl-lcb"].plan(problem)
    next(plan)
    if problem.rewards is None:
        plan.send(released)
    with pytest.raises(StopIteration) as end:
        plan.send(sums if problem.rewards is None else released)
    found: Learned = end.value.value
    return found


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_noise_of_all_steps_moves_no_sum_further_than_e_whatever_the_sum_is_of(mechanism: str) -> None:
    """Also one that is chosen by looking at the noise: f = noise. And no single sum is beyond that of a reward."""
    beta, scale, S, H = 0.99, 3.0, 5, 4
    problem = OfflineProblem(Size(S, 2, H), 100, beta, {}, None, stationary=True)
    E = OFFLINE["dp-kl-lcb"].errors(
        problem, mechanism, {"transitions": scale, "rewards": scale}, "calibrated"
    )
    chance = beta / (5 * 2 * S)  # five events in each of 10 rows: there is no union over steps
    rng, times = np.random.default_rng(0), 20_000
    noise = (rng.normal if mechanism == "gaussian" else rng.laplace)(scale=scale, size=(times, H, S)).sum(1)
    worst = (noise**2).sum(-1) > E["transitions"] * kl_lcb.rms(noise)
    for beyond in (worst, noise[:, 0] > E["rewards"]):
        assert stats.binomtest(int(beyond.sum()), times, chance, "greater").pvalue > LEVEL
        if mechanism == "gaussian":
            assert stats.binomtest(int(beyond.sum()), times, chance, "less").pvalue > LEVEL


def test_what_later_steps_are_worth_depends_on_the_noise_of_this_one() -> None:
    """So a quantile of one number would not do here: every step's release has a part in V at every step."""
    mdp, rng = alike(2, 4, 3, 5), np.random.default_rng(0)
    record = datasets.sample(rng, mdp, datasets.parts("uniform", mdp), 10**5)
    released = TRANSITIONS.answer(record, 5 * rng.normal(size=TRANSITIONS.draws(mdp.size)), 0.0)
    other = released.copy()
    other[0, ..., : mdp.S] += rng.normal(scale=50, size=other[0, ..., : mdp.S].shape)
    visits(other)[0] = transitions(other)[0].sum(-1)
    problem = OfflineProblem(mdp.size, 10**5, BETA, {}, mdp.R, errors={"transitions": 40.0}, stationary=True)
    first, again = (learned(problem, one, one) for one in (released, other))
    for h in range(mdp.H - 1):
        assert not np.array_equal(first.V[h], again.V[h])


def violations(models: int, times: int, beta: float, true: bool = True, **more: Any) -> tuple[int, Array]:
    """Over random models: in how many data sets V~ was above v^pi anywhere, and V~ by v^pi at the start.

    true: whether steps are alike, as declared.
    """
    over, shares = 0, []
    for i, key, notion, n in cases(models):
        rng = np.random.default_rng([8, i])
        S, A, H = (int(rng.integers(low, high)) for low, high in ((2, 9), (2, 5), (2, 13)))
        mdp = alike(i, S, A, H) if true else random_mdp(i, S, A, H, sparse=bool(i % 3))
        parts = datasets.parts(("uniform", "mixture:0.7", "epsilon-optimal:0.3")[i % 3], mdp)
        spec = OfflineSpec(**of_data(key), beta=beta, **(notion | more))
        rewards = mdp.R if "rewards" in spec.learner.public else None
        problem = OfflineProblem(mdp.size, n, beta, {}, rewards, stationary=True)
        noise, errors = noise_for(spec, problem, ())
        for _ in range(times):
            curator = Curator((datasets.sample(rng, mdp, parts, n),), noise, errors, rng)
            found, _ = learned_from(curator, spec.learner.plan(replace(problem, errors=errors)))
            worth = planning.policy_values(mdp, found.policy)
            over += bool((found.V > worth + 1e-9).any())
            shares.append(mdp.d1 @ found.V[0] / max(mdp.d1 @ worth[0], 1e-9))
    return over, np.array(shares)


def test_v_is_below_what_the_policy_is_worth() -> None:
    """At every step and state at once, on random models whose steps are alike; and not below for no reason."""
    over, shares = violations(10, few(16), beta=0.5)
    assert stats.binomtest(over, len(shares), 0.5, "greater").pvalue > LEVEL
    assert over <= ceil(0.02 * len(shares))  # conservative: of thousands none was above
    assert np.quantile(shares, 0.75) > 0.6


@pytest.mark.thorough
@pytest.mark.parametrize("beta", [0.1, 0.5])
def test_v_is_below_in_two_thousand_data_sets_of_twenty_models(beta: float) -> None:
    over, shares = violations(20, 100, beta)
    print(f"steps alike, beta {beta}: V~ above v^pi somewhere in {over} of {len(shares)} data sets")
    assert len(shares) == 2000
    assert stats.binomtest(over, 2000, beta, "greater").pvalue > LEVEL


def test_where_it_is_declared_wrongly_v_is_above() -> None:
    """Nothing is said of V~ where steps differ: the same test finds it above."""
    over, shares = violations(8, 4, beta=0.1, true=False)
    print(f"declared wrongly: V~ above v^pi somewhere in {over} of {len(shares)} data sets")
    assert over > 0.4 * len(shares)


# --- the field


def test_what_is_released_and_proved_of_privacy_is_what_it_was() -> None:
    """Released counts are added up afterwards: noise, and so what is proved, do not change."""
    for notion in NOTIONS[1:]:
        usual = OfflineSpec(environment="clinic", n=10**4, seeds=1, **notion)
        told = usual.replace(stationary="yes")
        (noise, _), (other, _) = noise_of_run(usual), noise_of_run(told)
        assert noise.scales == other.scales
        for name in ("proved_rho", "proved_epsilon", "proved_delta"):
            assert getattr(noise.guarantee, name) == getattr(other.guarantee, name)
        assert PUBLIC["stationary"] in other.guarantee.public
        assert PUBLIC["stationary"] not in noise.guarantee.public
    for one, two in zip(*(run(spec.replace(n=100)).points for spec in (usual, told)), strict=True):
        np.testing.assert_array_equal(one.released[0], two.released[0])


def run(spec: OfflineSpec) -> OfflineRun:
    """The first seed, finished."""
    found = OfflineRun(spec, 0)
    while not found.advance(60.0):
        pass
    return found


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"algorithm": "dp-apvi"},
            "yes changes nothing for dp-apvi; give no, or dp-kl-lcb",
        ),
        ({"environment": "linear-synthetic", "algorithm": "dp-vapvi"}, "yes changes nothing for dp-vapvi"),
        (
            {"environment": "custom", "environment_params": {"model": CHANGING, "H": 2}},
            "the transitions of state 1 .* at step 1 are not those at step 0; give no",
        ),
    ],
)
def test_it_is_refused_where_it_is_not_so_or_of_no_use(changes: Mapping[str, Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        OfflineSpec(stationary="yes", **changes)


def test_another_environment_does_not_inherit_it() -> None:
    spec = OfflineSpec(stationary="yes", n=100)
    assert spec.replace(environment="chain").stationary == "no"
    assert spec.replace(rho=0.5).stationary == spec.baseline().stationary == "yes"
    assert spec.label().endswith(", stationarity declared")
    assert OfflineSpec.from_dict({"n": 100}).stationary == "no"  # as it was written before


@pytest.mark.parametrize("environment", ["riverswim", "clinic", "chain"])
def test_fewer_records_are_enough(environment: str) -> None:
    """docs/notes/kl-lcb.md has the table."""
    spec = OfflineSpec(environment=environment, rho=0.1, n=10**4, seeds=1, stationary="yes")
    gaps = [OfflineRun(one, 0)._learn(10**4).gap for one in (spec, spec.replace(stationary="no"))]
    assert gaps[0] <= 0.7 * gaps[1]
