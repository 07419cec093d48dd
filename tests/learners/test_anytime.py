"""The anytime bonus against what it is proved from (docs/report/online.md, "The anytime bonus"): duality, monotonicity,
and noise in an ellipsoid."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from dprl.learners.tabular import anytime
from dprl.mdp.structure import every_state
from dprl.mdp.tabular import Array

BETA = 0.1
START = log(10 * 6 * 4 / (9 * BETA))
H, S = 6, 4  # the step h = 0 is looked at, where values of the next step may be anything up to H - 1


def planned(
    m: Array, r: float, V: Array, radius: float = 0.0, tau2: float = 1.0, rho2: float = 1.0, plan: Any = None
) -> float:
    """Q[0, 0, 0] of a row with these counts, when the values of the next step are V: [S]."""
    released = np.zeros((H, S, 1, S + 2))
    released[0, 0, 0] = [*m, m.sum(), r]
    Q = np.full((H, S, 1), float(H))
    Q[1, :, 0] = V  # nothing was seen there, so it stays
    values, policy = np.zeros((H + 1, S)), np.zeros((H, S), dtype=np.int64)
    constants = np.array([START, *(1.0, tau2, rho2) * H])
    plan = plan or anytime.bernstein
    plan(released, np.full(Q.shape, radius), every_state(S), constants, Q, values, policy)
    return float(Q[0, 0, 0])


def upper_mean(p: Array, f: Array, x: Array) -> Array:
    """sup { E_q f : KL(p, q) <= x } for each x, by its dual: the least over c >= max f of c - exp(E_p ln(c - f) -
    x)."""

    def value(c: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(c - np.exp((p * np.log(c[..., None] - f)).sum(-1) - x[:, None]))

    width = max(np.ptp(f), 1e-3)
    grid = np.tile(np.geomspace(1e-9, 1e6, 60), (len(x), 1))
    for _ in range(4):  # finer and finer around the least
        found = value(f.max() + width * grid)
        at = found.argmin(-1)
        low = np.take_along_axis(grid, np.maximum(at - 1, 0)[:, None], -1)
        high = np.take_along_axis(grid, np.minimum(at + 1, 59)[:, None], -1)
        grid = low * (high / low) ** np.linspace(0, 1, 60)
    return np.asarray(found.min(-1))


def upper_value(p: Array, V: Array, r: float, x: float) -> float:
    """sup { E_q1 R + E_q2 V : KL(Bernoulli(r), q1) + KL(p, q2) <= x }: the best of many ways to split x."""
    reward, bits = np.array([1 - r, r]), np.array([0.0, 1.0])
    share = x * np.linspace(0, 1, 21)
    return float((upper_mean(reward, bits, share) + upper_mean(p, V, x - share)).max())


def bet_value(m: Array, r: float, V: Array) -> float:
    """sup of reward and value under all means that no fixed bet 2^-j contradicts: none of rewards, none of values, none
    of both (docs/report/online.md, (1'))."""
    n = m.sum()
    j = np.arange(1.0, 40.0)[:, None, None]
    bet, most = 2**-j, (START + np.log(27 * j * (j + 1))) / n
    bits, b = np.array([0.0, 1.0]), r / n

    def wealth(mean: Array, p: Array, f: Array) -> Array:
        """[j, mean]: log-wealth a visit; 0 where a factor could be negative, since nothing is bet there."""
        factors = 1 + bet * (mean[None, :, None] - f)
        with np.errstate(invalid="ignore", divide="ignore"):
            made = (p * np.where(p > 0, np.log(np.abs(factors)), 0.0)).sum(-1)
        return np.asarray(np.where(factors.min(-1) > 0, made, 0.0))

    reward = np.linspace(0, 1, 201) if 0 < b < 1 else np.unique(np.append(np.linspace(0, 1, 200), b))
    rewards = wealth(reward, np.array([1 - b, b]), bits)
    reward, rewards = reward[kept := (rewards <= most[..., 0]).all(0)], rewards[:, kept]
    low, high = np.full(len(reward), V.min()), np.full(len(reward), V.max())
    for _ in range(40):
        mean = (low + high) / 2
        values = wealth(mean, m / n, V)
        inside = ((values <= most[..., 0]) & (values + rewards <= most[..., 0])).all(0) | (mean <= m @ V / n)
        low, high = np.where(inside, mean, low), np.where(inside, high, mean)
    return float((reward + low).max())


def laws(count: int, seed: int) -> list[tuple[Array, float, Array]]:
    """Counts [S], a sum of binary rewards and values [S], of all shapes: rare states, no spread, few and many users."""
    rng = np.random.default_rng(seed)
    result = []
    for _ in range(count):
        n = int(10 ** rng.uniform(0, 5))
        m = rng.multinomial(n, rng.dirichlet(np.full(S, 10 ** rng.uniform(-1.5, 1)))).astype(float)
        r = float(rng.binomial(n, rng.choice([0.0, 1.0, rng.random(), rng.random() ** 4])))
        V = rng.uniform(0, H - 1, S) * (rng.random(S) < 0.8)
        result.append((m, r, V))
    return result


@pytest.mark.thorough
@pytest.mark.parametrize("plan", [anytime.bernstein, anytime.hoeffding])
def test_the_closed_form_is_above_an_upper_value_of_every_law(plan: object) -> None:
    """The bound is only proved for what portfolios, or the bets that were fixed beforehand, do not contradict; the
    formula must not be below both, at no law."""
    closest = np.inf
    for m, r, V in laws(300, seed=1):
        n = m.sum()
        found = planned(m, r, V, plan=plan)
        exact = min(upper_value(m / n, V, r / n, (START + log(4 * (n + 1))) / n), float(H))
        assert found >= exact - 1e-6 or found >= bet_value(m, r, V) - 1e-6
        if found < H:
            closest = min(closest, found - exact)
    assert closest < 0.1  # and is not far above it everywhere


def test_the_bernstein_rise_is_hardly_above_what_it_solves() -> None:
    """At least the d = u v / c for which u - ln(1 + u) = x c^2 / v, at most 0.3% above, and never above the simpler
    sqrt(2 v x) + c x."""
    rng = np.random.default_rng(7)
    for v, c, x in 10 ** rng.uniform((-6, -2, -14), (2, 1, 1), (300, 3)):
        y = x * c * c / v
        most = 2 * y + 2 * np.sqrt(y) + 1
        exact = v / c * brentq(lambda u, y=y: u - np.log1p(u) - y, 0.0, most, xtol=1e-300, rtol=1e-14)
        found, simple = anytime.bernstein_rise(v, c, x), c * x + np.sqrt(2 * v * x)
        assert found <= simple * (1 + 1e-9)
        if y > 1e-8:
            assert exact * (1 - 1e-7) <= found <= 1.003 * exact
    assert anytime.bernstein_rise(0.0, 2.0, 0.5) == 1.0
    assert anytime.bernstein_rise(0.0, 0.0, 0.5) == 0.0


def test_bernstein_takes_no_more_than_hoeffding() -> None:
    for m, r, V in laws(200, seed=8):
        assert planned(m, r, V) <= planned(m, r, V, plan=anytime.hoeffding) + 1e-12


def inside(rng: np.random.Generator, radius: float, tau2: float, rho2: float) -> tuple[Array, float]:
    """A point of the ellipsoid around zero, [S] and a number, often on its boundary."""
    metric = np.eye(S) + np.ones((S, S)) / tau2
    u = rng.normal(size=S + 1)
    u *= radius * min(1.0, 2 * rng.random()) / np.linalg.norm(u)
    return np.linalg.solve(np.linalg.cholesky(metric).T, u[:S]), float(u[S] * rho2**0.5)


@pytest.mark.parametrize("plan", [anytime.bernstein, anytime.hoeffding])
@pytest.mark.parametrize(("tau2", "rho2"), [(1.0, 1.0), (4.0, 4.0)])
def test_with_noise_it_is_above_the_bound_of_all_counts_in_the_ellipsoid(
    plan: object, tau2: float, rho2: float
) -> None:
    rng = np.random.default_rng(4)
    compared = 0
    for m, r, V in laws(250, seed=5):
        radius = float(10 ** rng.uniform(0, 3))
        noisy = planned(m, r, V, radius, tau2, rho2, plan)
        for _ in range(5):
            shift, gain = inside(rng, radius, tau2, rho2)
            true, paid = m + shift, r + gain
            n = true.sum()
            if (true >= 0).all() and n >= 1 and 0 <= paid <= n:
                bound = planned(true, paid, V, plan=plan)
                assert noisy >= bound - 1e-9
                compared += bound < H
    assert compared > 100


def test_the_raised_mean_is_reached_in_the_ellipsoid() -> None:
    """raised_mean against the largest mean found by repeated maximisation of (r + m V - c n) (Dinkelbach)."""
    rng = np.random.default_rng(6)
    for tau2, rho2 in ((1.0, 1.0), (4.0, 4.0), (4.0, 1.0)):
        m, V = rng.uniform(20, 100, S), rng.uniform(0, 9, S)
        n, r, radius = m.sum(), rng.uniform(0, 80), rng.uniform(1, 15)
        q = c = (r + m @ V) / n
        metric = np.eye(S + 1)
        metric[:S, :S] += np.ones((S, S)) / tau2
        metric[S, S] = 1 / rho2
        inverse = np.linalg.inv(metric)
        for _ in range(100):
            g = np.append(V - c, 1.0)
            d = inverse @ g * radius / np.sqrt(g @ inverse @ g)
            c = (r + d[S] + (m + d[:S]) @ V) / (n + d[:S].sum())
        f = V - q
        assert q + anytime.raised_mean(radius / n, rho2 + f @ f, f.sum(), S, tau2) == pytest.approx(c)


def test_q_never_rises_again_when_noise_hides_a_row() -> None:
    """A bound that was proved once stays proved: a row whose released count falls keeps its old value."""
    released = np.zeros((1, 1, 1, 3))
    released[0, 0, 0] = [1e6, 1e6, 5e5]
    Q, V, policy = np.ones((1, 1, 1)), np.zeros((2, 1)), np.zeros((1, 1), dtype=np.int64)
    constants = np.array([log(10), 1.0, 1.0, 1.0])
    for plan in (anytime.bernstein, anytime.hoeffding):
        Q[:] = 1.0
        plan(released, np.full(Q.shape, 10.0), every_state(1), constants, Q, V, policy)
        once = Q[0, 0, 0]
        assert once < 0.6
        plan(np.zeros_like(released), np.full(Q.shape, 10.0), every_state(1), constants, Q, V, policy)
        assert Q[0, 0, 0] == once
