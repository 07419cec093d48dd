"""The anytime bonus, an upper bound on Q* at all releases at once, under any schedule, with or without noise.

The proof is in docs/report/online.md, "The anytime bonus". Without noise, a row (h, s, a) with n users gives
    Q~ = r^ + P^V~ + min(u v / c, sqrt((1 + w^2) L / (2n)))      (portfolios),
    v = r^(1 - r^) + Var_{P^} V~,  c = max(1 - r^, max V~ - P^V~),  u - ln(1 + u) = c^2 L / (v n),  w = max V~ - min V~,
    L = ln(10 H S A / (9 beta)) + ln(4 (n + 1)),
or, once n v is large,
    Q~ = r^ + P^V~ + (exp(ln(30 j (j + 1) H S A / beta) / n + f v) - 1) 2^j      (a bet fixed in advance),
    f = (1 + 2z / (3 - 3z)) / 2^(2j+1),  z = c / 2^j < 1,  for any whole j >= 1.
Learners with a Hoeffding bonus use v = (1 + w^2)/4 and c = max(1, w). With noise, the true counts m and rewards r of a
row lie in an ellipsoid around the released ones (statistics/counts.py, FITTED),
    |m - m~|^2 + (sum (m - m~))^2 / tau^2 + (r - r~)^2 / rho^2 <= E^2,
where tau and rho are the scales of the noise in n and r relative to m, and we replace every term by its maximum over
the ellipsoid. Counts, noise and max V~ include only the next states declared possible (all S by default).
"""

from __future__ import annotations

from math import log, log1p

import numpy as np

from dprl.engine import kernel
from dprl.learners.learner import Problem
from dprl.learners.tabular.backup import act_greedily
from dprl.mdp.planning import Policy
from dprl.mdp.structure import Table, gather
from dprl.mdp.tabular import Array

SAME = (
    "With the anytime bonus, UCBVI-Hoeffding, UBEV, PUCB, Private-UCB-VI and LDP-OBI are one algorithm. They differ "
    "only in their papers' constants."
)


@kernel
def reach_in_ellipsoid(squares: float, total: float, B: int, tau2: float) -> float:
    """Return the maximum of (r - r~) f_0 + sum (m - m~) f over the ellipsoid of radius 1 (by Sherman and Morrison).
    Here, squares = rho^2 f_0^2 + |f|^2, and total is the sum of f over B next states."""
    return float(np.sqrt(max(squares - total * total / (B + tau2), 0.0)))


@kernel
def raised_mean(k: float, squares: float, total: float, B: int, tau2: float) -> float:
    """Return by how much the maximum of (r + sum m V) / n over the ellipsoid exceeds q, its value at the centre.

    Here k = E / n~, and squares and total are as in `reach_in_ellipsoid` for f = V - q and f_0 = 1. The result e solves
    the quadratic equation e = k reach(f - e). Requires k^2 B tau^2 / (B + tau^2) < 1, or n could be 0 in the ellipsoid.
    """
    share = tau2 / (B + tau2)
    lead = 1.0 - k * k * B * share
    slope = k * total * share
    here = reach_in_ellipsoid(squares, total, B, tau2)
    return float(k * (np.sqrt(slope * slope + lead * here * here) - slope) / lead)


@kernel
def bernstein_rise(v: float, c: float, x: float) -> float:
    """Bound how far the true mean of reward plus next value can exceed its estimate.

    x is the log-wealth per visit, v the sum of the two variances, and c the largest distance of either above its mean.
    The result is u c x / y, where u - ln(1 + u) = y = x c^2 / v, and one Newton step from y + sqrt(2 y) rounds u up.
    """
    y = x * c * c / v if v > 0.0 else np.inf
    if not 1e-8 < y < 1e12:  # the starting point is as good here, and a Newton step would lose digits
        return float(c * x + np.sqrt(2.0 * v * x))
    u = y + np.sqrt(2.0 * y)
    u = (1.0 + u) * (log1p(u) + y) / u - 1.0
    return float(v / c * u)


@kernel
def fixed_bet_rise(v: float, c: float, start: float, n: float) -> float:
    """Return the bound of `bernstein_rise` for a bet 2^-j that is fixed in advance. Its cost does not grow with n.

    Any bet below 1/c is valid, and we use the one nearest to the best, sqrt(2 x / v). If that is above 1/(4c), there
    are too few visits: the result is infinite, and a portfolio is better. start is the first of `constants`.
    """
    squared = 0.5 * v * n / (start + 9.0)  # inverse square of the best bet; the weights cost about 9
    if squared <= 16.0 * max(c * c, 0.25):
        return np.inf
    j = np.round(0.5 * np.log2(squared))
    bet = 2.0**-j
    wealth = (start + log(27.0 * j * (j + 1.0))) / n
    worst = 0.5 + bet * c / (3.0 - 3.0 * bet * c)  # bounds (-ln(1 - y) - y) / y^2 for y up to bet c
    return float(np.expm1(wealth + bet * bet * v * worst) / bet)


@kernel
def bernstein_bonus(v: float, c: float, spread: float, start: float, n: float, most: float) -> float:
    """Bound how far the true mean of reward plus next value exceeds its estimate, for all visits from n to `most`."""
    rise = fixed_bet_rise(v, c, start, n)
    if rise < np.inf:
        return rise
    x = (start + log(4.0 * (most + 1.0))) / n
    return min(bernstein_rise(v, c, x), float(np.sqrt((1.0 + spread * spread) * x / 2.0)))


@kernel
def hoeffding_bonus(spread: float, start: float, n: float, most: float) -> float:
    """Return a bound like `bernstein_bonus` for rewards in [0, 1] and values in an interval of length `spread`."""
    v = (1.0 + spread * spread) / 4.0
    rise = fixed_bet_rise(v, max(spread, 1.0), start, n)
    if rise < np.inf:
        return rise
    return float(np.sqrt(2.0 * v * (start + log(4.0 * (most + 1.0))) / n))


@kernel
def extremes(values: Array, B: int) -> tuple[float, float]:
    """Return the largest and the smallest of the first B values."""
    top = values[0]
    bottom = values[0]
    for x in range(1, B):
        top = max(top, values[x])
        bottom = min(bottom, values[x])
    return top, bottom


@kernel
def bernstein(
    released: Array, errors: Array, possible: Table, constants: Array, Q: Array, V: Array, policy: Policy
) -> None:
    """Run optimistic backward induction with the anytime Bernstein bound and the result of `constants`."""
    H, S, A = Q.shape
    start = constants[0]
    most = released.shape[3] - 2
    P, following = np.zeros(most), np.zeros(most)
    tau2, rho2 = constants[1], constants[2]
    for h in range(H - 1, -1, -1):
        for s in range(S):
            for a in range(A):
                n = released[h, s, a, most]
                off = errors[h, s, a]
                B = gather(possible, h, s, a, V, h + 1, following)
                missed = off * np.sqrt(B * tau2 / (B + tau2))  # the maximum error of n~ in visits
                fewest = n - missed
                if fewest < 1.0:
                    Q[h, s, a] = min(Q[h, s, a], float(H - h))
                    continue
                top, bottom = extremes(following, B)
                r = released[h, s, a, most + 1] / n
                mean = 0.0
                for x in range(B):
                    P[x] = released[h, s, a, x] / n
                    mean += P[x] * following[x]
                b = min(r, 1.0)
                variance = 0.0
                d1 = 0.0
                d2 = 0.0
                d4 = 0.0
                for x in range(B):
                    d = following[x] - mean
                    variance += P[x] * d * d
                    d1 += d
                    d2 += d * d
                    d4 += d * d * d * d
                e = 0.0
                moment = n * (variance + max(r * (1.0 - 2.0 * b) + b * b, 0.0))
                above = n * (top - mean)
                unpaid = n * max(1.0 - r, 0.0)
                if off > 0.0:
                    e = raised_mean(off / n, rho2 + d2 - 2.0 * r * d1 + B * r * r, d1 - B * r, B, tau2)
                    # coefficients of m and r: (V - mean)^2 + b^2 and 1 - 2b; then top - V and 0; then 1 and -1
                    fourth = (
                        rho2 * (1.0 - 2.0 * b) * (1.0 - 2.0 * b) + d4 + 2.0 * b * b * d2 + B * b * b * b * b
                    )
                    moment += off * reach_in_ellipsoid(fourth, d2 + B * b * b, B, tau2)
                    lack = top - mean
                    above += off * reach_in_ellipsoid(
                        d2 - 2.0 * lack * d1 + B * lack * lack, B * lack - d1, B, tau2
                    )
                    unpaid += off * reach_in_ellipsoid(rho2 + B, float(B), B, tau2)
                span = max(min(above / fewest, top - bottom), min(unpaid / fewest, 1.0))
                bonus = bernstein_bonus(moment / fewest, span, top - bottom, start, fewest, n + missed)
                Q[h, s, a] = min(Q[h, s, a], min(float(H - h), r + mean + e + bonus))
        act_greedily(h, Q, V, policy)


@kernel
def hoeffding(
    released: Array, errors: Array, possible: Table, constants: Array, Q: Array, V: Array, policy: Policy
) -> None:
    """Run optimistic backward induction with the anytime Hoeffding bound and the result of `constants`."""
    H, S, A = Q.shape
    start = constants[0]
    most = released.shape[3] - 2
    following = np.zeros(most)
    tau2, rho2 = constants[1], constants[2]
    for h in range(H - 1, -1, -1):
        for s in range(S):
            for a in range(A):
                n = released[h, s, a, most]
                off = errors[h, s, a]
                B = gather(possible, h, s, a, V, h + 1, following)
                missed = off * np.sqrt(B * tau2 / (B + tau2))
                fewest = n - missed
                if fewest < 1.0:
                    Q[h, s, a] = min(Q[h, s, a], float(H - h))
                    continue
                top, bottom = extremes(following, B)
                q = released[h, s, a, most + 1] / n
                for x in range(B):
                    q += released[h, s, a, x] / n * following[x]
                total = 0.0
                squares = rho2
                for x in range(B):
                    total += following[x] - q
                    squares += (following[x] - q) * (following[x] - q)
                e = raised_mean(off / n, squares, total, B, tau2)
                bonus = hoeffding_bonus(top - bottom, start, fewest, n + missed)
                Q[h, s, a] = min(Q[h, s, a], min(float(H - h), q + e + bonus))
        act_greedily(h, Q, V, policy)


def constants(problem: Problem) -> Array:
    """Return ln(10 H S A / (9 beta)), tau^2 and rho^2. With noise, beta/3 is reserved for the bound on the noise."""
    beta = problem.beta * (1.0 if problem.epsilon is None else 2 / 3)
    start = log(10 * problem.H * problem.S * problem.A / (9 * beta))
    return np.array([start, *(problem.ellipsoid or (1.0, 1.0))])
