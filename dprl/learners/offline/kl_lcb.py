"""Our DP-KL-LCB: pessimistic value iteration on private counts, with a proved lower bound V~ on v^pi.

It releases only m, without projection, which is half of DP-APVI's sums (Qiao, Wang 2023, Algorithm 1). The lower bound
on the value of a row (h, s, a), where W = V~_{h+1} bounds the values of next states, covers three errors:

- Data: n KL(P^, P) <= L bounds PW for every W, even if W depends on the same people.
- Noise: W depends only on later steps, so the noise in the sum of m W is independent of W, and one quantile is enough.
  A bound for all W at once would need an ellipsoid.
- Division: we solve for the error of the ratio of two noisy sums (Fieller 1954).

The proof is in docs/report/offline.md, "DP-KL-LCB".
"""

from __future__ import annotations

from collections.abc import Mapping
from math import e, log, sqrt

import numpy as np
from numpy.typing import NDArray

from dprl.learners.offline import apvi
from dprl.learners.offline.learner import Learned, OfflineLearner, OfflineProblem, Plan, decided, sums_once
from dprl.mdp import counts
from dprl.mdp.tabular import Array
from dprl.statistics import REWARDS, TRANSITIONS

COUNTS = TRANSITIONS.family
# numbers of events that must hold in each row, without noise and with it (docs/report/offline.md)
OF_NEXT, OF_REWARDS, NOISE_OF_NEXT, NOISE_OF_REWARDS = 1, 1, 4, 2
GRID = 2.0**-30  # noise on real data is a multiple of this number, which adds at most the same error


def plan(problem: OfflineProblem) -> Plan:
    """Request the noisy counts (and sums of rewards if rewards are unknown), and plan pessimistically from them."""
    released = yield TRANSITIONS
    if problem.rewards is not None:
        return iterated(problem, released, problem.rewards, problem.rewards)
    sums = yield REWARDS
    return iterated(problem, released, *reward_bounds(problem, released, sums))


def iterated(problem: OfflineProblem, released: Array, r: Array, least_r: Array) -> Learned:
    """Run pessimistic value iteration on released counts with rewards r [H, S, A] and lower bounds least_r on them."""
    S, A, H, _ = problem.size
    evidence = counts.visits(released)
    E = problem.errors.get(COUNTS, 0.0)
    Q_hat, Gamma, Q = np.zeros((H, S, A)), np.zeros((H, S, A)), np.zeros((H, S, A))
    V, policy = np.zeros((H + 1, S)), np.zeros((H, S), dtype=np.int64)
    for h in range(H - 1, -1, -1):
        PV, least_PV = next_bounds(problem, released[h], V[h + 1])
        Q_hat[h] = r[h] + PV
        Gamma[h] = Q_hat[h] - (least_r[h] + least_PV)
        Q[h] = np.clip(Q_hat[h] - Gamma[h], 0.0, H - h)
        policy[h], V[h] = decided(problem, Q[h], evidence[h], E)
    return Learned(policy, Q_hat, Gamma, Q, V)


def next_bounds(problem: OfflineProblem, released: Array, V: Array) -> tuple[Array, Array]:
    """Return the estimated mean value of the next state and a lower bound on it, [S, A] each, from released counts."""
    E, low, high = problem.errors.get(COUNTS, 0.0), V.min(), V.max()
    m, (known, n, fewest) = counts.transitions(released), visited(counts.visits(released), E)
    mean = m @ V / n
    off = V - mean[..., None]
    error = E * rms(off) / fewest  # of the mean, due to noise
    squares = (m * off**2).sum(-1) + E * rms(off**2) + error**2 * (2 * n + fewest)
    variance = np.clip(squares / fewest, 0.0, (high - low) ** 2 / 4)  # upper bound
    above = np.clip(mean + error, low, high) - low  # upper bound on (mean - smallest value)
    mean = np.clip(mean, low, high)
    least = mean - error - shortfall(variance, above, divergence(problem, fewest) / fewest)
    return np.where(known, mean, V.mean()), np.where(known, np.maximum(least, low), low)


def reward_bounds(problem: OfflineProblem, released: Array, sums: Array) -> tuple[Array, Array]:
    """Return estimates of the mean rewards and lower bounds on them, [H, S, A] each, from released counts and sums."""
    E, E_r = (problem.errors.get(name, 0.0) for name in (COUNTS, REWARDS.family))
    known, n, fewest = visited(counts.visits(released), E)
    mean = np.clip(sums / n, 0.0, 1.0)
    error = np.hypot(E_r, E * sums / n) / fewest
    least, most = np.maximum(mean - error, 0.0), np.minimum(mean + error, 1.0)
    middle = np.clip(0.5, least, most)  # the possible mean with the largest variance
    least = least - shortfall(middle * (1 - middle), most, of_rewards(problem, fewest) / fewest)
    return np.where(known, mean, 0.0), np.where(known, np.maximum(least, 0.0), 0.0)


def visited(n: Array, E: float) -> tuple[NDArray[np.bool_], Array, Array]:
    """Return which (s, a) certainly have visits, their noisy counts, and lower bounds on n (both 1 for other pairs)."""
    known = n - E >= 1
    return known, np.where(known, n, 1.0), np.where(known, n - E, 1.0)


def rms(values: Array) -> Array:
    """Return the root mean square of `values` over next states, the last axis."""
    return np.asarray(np.sqrt((values**2).mean(-1)))


def shortfall(variance: Array, above: Array, x: Array) -> Array:
    """Bound how far the mean of a function under P is below its mean under P^, if KL(P^, P) <= x. `above` is the mean
    under P^ minus the function's smallest value."""
    return np.asarray(np.sqrt(2 * variance * x) + above * x)


def divergence(problem: OfflineProblem, visits: Array) -> Array:
    """Return an L for which KL(P^, P) <= L/visits holds with high probability after at least this many visits.

    If each person has one episode, L is the x > S - 1 at which e^-x (e x / (S-1))^(S-1) is the failure probability.
    This follows from E exp(t n KL) <= (1 - t)^-(S-1) for 0 <= t < 1 (Agrawal 2020), by Markov's inequality at t = 1 -
    (S-1)/x. A person's episodes may depend on each other, so if there are several, the bound holds for all n at once.
    """
    from scipy.special import lambertw

    free, chance = problem.size.S - 1, _each(problem)
    if problem.episodes > 1:
        return at_all_times(problem, visits, free)
    x = float(-free * lambertw(-(chance ** (1 / free)) / e, -1).real) if free else -log(chance)
    return np.full_like(visits, x)


def of_rewards(problem: OfflineProblem, visits: Array) -> Array:
    """Return an L for which KL(mean of n rewards, true mean) <= L/visits (Hoeffding 1963, Theorem 1)."""
    if problem.episodes > 1:
        return at_all_times(problem, visits, 1)
    return np.full_like(visits, -log(_each(problem)))


def at_all_times(problem: OfflineProblem, visits: Array, free: int) -> Array:
    """Return a bound on n KL(P^, P) that holds for all n at once, by the method of mixtures (Ville 1939).

    It is ln(C(n + free, free) / probability). The bound divided by n decreases in n, so a lower bound on the visits may
    replace n.
    """
    from scipy.special import gammaln

    ways = gammaln(visits + free + 1) - gammaln(visits + 1) - gammaln(free + 1)
    return np.asarray(ways - log(_each(problem)))


def _each(problem: OfflineProblem) -> float:
    return each(problem, noisy=bool(problem.errors))


def each(problem: OfflineProblem, noisy: bool) -> float:
    """Return the failure probability of each event in the proof, which is beta divided by the number of events."""
    S, A, H, _ = problem.size
    learned = problem.rewards is None
    events = OF_NEXT + OF_REWARDS * learned + noisy * (NOISE_OF_NEXT + NOISE_OF_REWARDS * learned)
    return problem.beta / (events * H * S * A)


def errors(
    problem: OfflineProblem, mechanism: str, scales: Mapping[str, float], calibration: str
) -> dict[str, float]:
    """Return the noise bound E for each family of sums, which fails with probability at most `each`.

    Noise changes a sum of m f by at most E times the root mean square of f (and so n~ by at most E), and a sum of
    rewards by at most its own E. For Gaussian noise, E is a quantile. For Laplace(b), it is Chernoff's bound with the
    best u, b (ln(1/chance) - ln(1 - u^2)) / u, for one cell, which is the worst f with |f|_2 = 1.
    """
    from scipy.special import ndtri

    chance, S = each(problem, noisy=True), problem.size.S
    u = np.linspace(0.01, 0.99, 99)
    chernoff = float(((-log(chance) - np.log1p(-(u**2))) / u).min())
    tail = -float(ndtri(chance)) if mechanism == "gaussian" else chernoff
    found = {name: scale * tail + 2 * sqrt(S + 1) * GRID for name, scale in scales.items()}
    return found | {COUNTS: found[COUNTS] * sqrt(S)}


KL_LCB = OfflineLearner(
    key="dp-kl-lcb",
    title="DP-KL-LCB",
    summary="Offline, tabular, ours: pessimistic value iteration with a proved lower bound, from half of the sums that "
    "DP-APVI releases.",
    source="ours, based on QW23-offline Algorithm 1",
    privacies=("zcdp", "pure", "approximate", "none"),
    baseline="dp-kl-lcb",
    public=("sizes", "rewards"),
    families=lambda problem, calibration: sums_once(problem, TRANSITIONS, "counts m of transitions"),
    errors=errors,
    plan=plan,
    shown=apvi.SHOWN,
    unproved=lambda params: "",
    proved="the documentation has the proof",
    several=True,
)
